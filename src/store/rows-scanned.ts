/**
 * Counts the rows that this thread's lists have scanned, whether or not they matched. That count is
 * what a list costs: a search without matches still scans thousands of rows, so a service with many
 * users charges each user for the rows scanned.
 */
let scanned = 0

export function countScannedRow(): void {
  scanned++
}

/** Rows scanned since the thread began. */
export function rowsScanned(): number {
  return scanned
}
