/** Give the port to listen on. */
export function port(env = process.env) {
  return Number(env.PORT ?? 8080);
}
