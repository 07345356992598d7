import { createHash } from 'node:crypto'

/** A hash takes as long for a line as for a page. */
const PAGE_CHARS = 65_536

/** What happened in a world, line by line: the last lines, the hash of all, and how often what happened. */
export class History {
  /** What happened, without numbers and names, and how often. */
  readonly seen = new Map<string, number>()
  readonly #hash = createHash('sha256')
  #page = ''
  /** The last lines, of which the oldest is at `#count % #kept`. */
  readonly #lines: string[] = []
  readonly #kept: number
  #count = 0

  /** @param kept lines of it, the last */
  constructor(kept: number) {
    this.#kept = Math.max(1, kept)
  }

  /** @param atMs since the beginning */
  note(atMs: number, line: string): void {
    const text = `${atMs} ${line}`
    this.#page += `${text}\n`
    if (this.#page.length > PAGE_CHARS) this.#turn()
    this.#lines[this.#count++ % this.#kept] = text
    const kind = kindOf(line)
    this.seen.set(kind, (this.seen.get(kind) ?? 0) + 1)
  }

  get script(): string[] {
    const oldest = this.#count % this.#kept
    return [...this.#lines.slice(oldest), ...this.#lines.slice(0, oldest)]
  }

  /** To be asked for once, at the end. */
  digest(): string {
    this.#turn()
    return this.#hash.digest('hex').slice(0, 16)
  }

  #turn(): void {
    this.#hash.update(this.#page)
    this.#page = ''
  }
}

/** The first two words; they end at spaces and colons. */
function kindOf(line: string): string {
  const first = endOfWord(line, 0)
  let second = first
  while (isBetween(line, second)) second++
  return `${line.slice(0, first)} ${line.slice(second, endOfWord(line, second))}`
}

function endOfWord(line: string, from: number): number {
  let at = from
  while (at < line.length && !isBetween(line, at)) at++
  return at
}

function isBetween(line: string, at: number): boolean {
  return line[at] === ' ' || line[at] === ':'
}
