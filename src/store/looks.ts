/**
 * Counts the rows that this thread's lists have scanned, whether or not they matched. That count is
 * what a list costs: a search without matches still scans thousands of rows, so a service with many
 * users charges each user for the rows scanned.
 */
let looks = 0

export function noteLook(): void {
  looks++
}

/** Rows scanned since the thread began. */
export function looksSoFar(): number {
  return looks
}
