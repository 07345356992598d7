/** A line of progress, besides what goes to standard output. */
export function say(line: string): void {
  process.stderr.write(`bench  ${line}\n`)
}
