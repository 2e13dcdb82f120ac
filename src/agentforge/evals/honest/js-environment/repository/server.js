/** Give the port to listen on. */
export function port() {
  return 8080;
}
