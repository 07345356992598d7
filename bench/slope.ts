/**
 * The growth rate: the slope of the best-fitting straight line (least squares).
 * @param points pairs of x and y
 * @returns y per x; 0 for fewer than two different x
 */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const n = Math.max(1, points.length)
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n
  let spread = 0
  let joint = 0
  for (const [x, y] of points) {
    spread += (x - meanX) ** 2
    joint += (x - meanX) * (y - meanY)
  }
  return spread === 0 ? 0 : joint / spread
}
