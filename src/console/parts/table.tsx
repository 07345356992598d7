import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** Numbers are right-aligned, so that their digits line up. */
  readonly align?: 'end'
}

/** On a phone each row is a card, and each cell shows its title. */
export function Table<T>(shown: {
  /** For screen readers. */
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}) {
  const { columns } = shown
  return (
    <table class="table">
      <caption class="hidden">{shown.caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, align }) => (
            <th key={title} scope="col" class={align}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.rows.map((row) => (
          <tr key={shown.keyOf(row)}>
            {columns.map(({ title, cell, align }) => (
              <td key={title} data-title={title} class={align}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
