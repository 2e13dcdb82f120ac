/** Give the city where a user lives. */
export function cityOf(user) {
  return user.address.city;
}
