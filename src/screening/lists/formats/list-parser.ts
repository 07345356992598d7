/** Takes the text of a list piece by piece and returns the values that may hold addresses. */
export interface ListParser {
  /** @throws ListFormatError when the text cannot be this kind of list */
  write(text: string): void
  /** @throws ListFormatError when the list broke off, or is not the expected one */
  end(): ParsedList
}

export interface ParsedList {
  /** The publisher's format, for the record. */
  readonly format: string
  /** The publisher's own date, as written; null when the list shows none. */
  readonly published: string | null
}

/** Takes a value of the list: an address field, or free text. */
export type TakeValue = (text: string) => void

/** A file that is not the expected list. None of its content is kept. */
export class ListFormatError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ListFormatError'
  }
}
