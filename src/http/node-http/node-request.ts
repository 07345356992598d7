import type { IncomingMessage } from 'node:http'
import type { HttpRequest } from '../app.js'

/**
 * A request's head, read once. It keeps every header as received, because node:http joins and drops
 * duplicates.
 */
export class NodeRequest implements HttpRequest {
  readonly path: string
  readonly #method: string
  readonly #query: string
  readonly #names: readonly string[]
  readonly #raw: readonly string[]
  #parameters: readonly string[] = []

  constructor({ method = '', url = '', rawHeaders }: IncomingMessage) {
    this.#method = method
    const mark = url.indexOf('?')
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.#query = mark === -1 ? '' : url.slice(mark + 1)
    this.#raw = rawHeaders
    const names: string[] = []
    for (let at = 0; at < rawHeaders.length; at += 2)
      names.push(rawHeaders[at]?.toLowerCase() ?? '')
    this.#names = names
  }

  matched(parameters: readonly string[]): void {
    this.#parameters = parameters
  }

  get headers(): number {
    return this.#names.length
  }

  /** The number of headers with that name. */
  count(name: string): number {
    let count = 0
    for (const other of this.#names) if (other === name) count++
    return count
  }

  forEach(take: (name: string, value: string) => void): void {
    for (const [i, name] of this.#names.entries()) take(name, this.#raw[i * 2 + 1] ?? '')
  }

  getMethod(): string {
    return this.#method
  }

  getUrl(): string {
    return this.path
  }

  getParameter(index: number): string {
    return this.#parameters[index] ?? ''
  }

  getQuery(): string {
    return this.#query
  }
}
