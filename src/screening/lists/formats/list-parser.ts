/** Takes the text of a list piece by piece and hands on the values that may hold addresses. */
export interface ListParser {
  /** @throws ListFormatError when the text cannot be this kind of list */
  write(text: string): void
  /** @throws ListFormatError when the list broke off, or was not what it should be */
  end(): ParsedList
}

export interface ParsedList {
  /** Which of a publisher's formats it was, for the record. */
  readonly format: string
  /** The publisher's own date, as written; null when the list shows none. */
  readonly published: string | null
}

/** A value of the list: of an address field, or free text. */
export type TakeValue = (text: string) => void

/** A file that is not the list it should be. Nothing of it is kept. */
export class ListFormatError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ListFormatError'
  }
}
