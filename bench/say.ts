/** Writes a line of progress, separate from standard output. */
export function say(line: string): void {
  process.stderr.write(`bench  ${line}\n`)
}
