import type { Io } from './io.js'

/** Prints results on stdout: JSON for programs, tables for people. */

export type Row = Readonly<Record<string, unknown>>

export interface Format {
  readonly json?: boolean
}

/** @param columns the fields for people; JSON always has all */
export function printRows(
  io: Io,
  format: Format,
  value: unknown,
  rows: readonly Row[],
  columns: readonly string[],
): void {
  if (format.json === true) printJson(io, value)
  else if (rows.length === 0) io.out('nothing yet\n')
  else io.out(table(rows, columns))
}

export function printRecord(io: Io, format: Format, value: Row, columns?: readonly string[]): void {
  if (format.json === true) {
    printJson(io, value)
    return
  }
  const fields = (columns ?? Object.keys(value)).map(
    (name) => [name, cellText(value[name])] as const,
  )
  const width = Math.max(...fields.map(([name]) => name.length))
  io.out(fields.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join(''))
}

function printJson(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`)
}

function table(rows: readonly Row[], columns: readonly string[]): string {
  const lines = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => cellText(row[name]))),
  ]
  const widths = columns.map((_name, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map(
      (line) =>
        `${line
          .map((text, at) => text.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Control characters from outside must not reach the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}
