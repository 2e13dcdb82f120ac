/** Give the area of a rectangle. */
export function area(width, height) {
  return width * height;
}
