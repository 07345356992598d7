/** Rows in the order of their names, as a store in memory keeps them. */
export interface NamedRow {
  readonly name: string
}

/** Where the first row is whose name is not before `name`. */
export function placeFor(rows: readonly NamedRow[], name: string): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle] as NamedRow).name < name) low = middle + 1
    else high = middle
  }
  return low
}

export function rowNamed<Row extends NamedRow>(
  rows: readonly Row[],
  name: string,
): Row | undefined {
  const row = rows[placeFor(rows, name)]
  return row?.name === name ? row : undefined
}

/** In place of the one that has its name. */
export function putRow<Row extends NamedRow>(rows: Row[], row: Row): void {
  const at = placeFor(rows, row.name)
  rows.splice(at, rows[at]?.name === row.name ? 1 : 0, row)
}

export function removeRow(rows: NamedRow[], name: string): void {
  const at = placeFor(rows, name)
  if (rows[at]?.name === name) rows.splice(at, 1)
}
