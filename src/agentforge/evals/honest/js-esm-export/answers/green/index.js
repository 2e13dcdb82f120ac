export { area } from "./shapes.js";
export const version = "1.0.0";
