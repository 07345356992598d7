import { SaxesParser } from 'saxes'
import { ListFormatError } from './list-parser.js'

/** Nesting of elements: real lists stay below 20. */
const DEPTH_MAX = 64
/** The text of one element, or unclosed markup; saxes collects it before it returns it. */
const PENDING_CHARS_MAX = 8 * 1024 * 1024
const DATE_CHARS_MAX = 64

export interface XmlElement {
  /** Without its namespace prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** The text directly in it so far, without that of its children. */
  text: string
}

interface XmlHandler {
  open?(element: XmlElement, path: readonly XmlElement[]): void
  /** `path` holds the element itself last. */
  close(element: XmlElement, path: readonly XmlElement[]): void
}

/**
 * Streams XML as elements with their text. Names lose their prefix: publishers have changed
 * namespaces and kept the names. Entities of a DTD are refused and not expanded.
 */
export class XmlEvents {
  readonly #parser = new SaxesParser()
  readonly #path: XmlElement[] = []
  readonly #handler: XmlHandler
  #pendingChars = 0
  #failure: Error | null = null

  constructor(handler: XmlHandler) {
    this.#handler = handler
    this.#parser.on('error', (error) => {
      this.#failure ??= error
    })
    this.#parser.on('opentag', ({ name, attributes }) => this.#open(name, attributes))
    this.#parser.on('closetag', () => this.#close())
    this.#parser.on('text', (text) => this.#text(text))
    this.#parser.on('cdata', (text) => this.#text(text))
  }

  /** @throws ListFormatError */
  write(text: string): void {
    this.#pendingChars += text.length
    this.#parser.write(text)
    if (this.#failure !== null) {
      throw new ListFormatError('the XML is malformed', { cause: this.#failure })
    }
    if (this.#pendingChars > PENDING_CHARS_MAX) {
      throw new ListFormatError('the XML holds a text of unreasonable size')
    }
  }

  /** @throws ListFormatError when the document is not complete */
  end(): void {
    this.#parser.close()
    if (this.#failure !== null) {
      throw new ListFormatError('the XML breaks off or is malformed', { cause: this.#failure })
    }
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#pendingChars = 0
    const element: XmlElement = { name: localName(name), attributes, text: '' }
    this.#path.push(element)
    if (this.#path.length > DEPTH_MAX) throw new ListFormatError('the XML nests too deep')
    this.#handler.open?.(element, this.#path)
  }

  #text(text: string): void {
    this.#pendingChars = 0
    const element = this.#path.at(-1)
    // The indentation between children would add up in the elements that contain them all.
    if (element === undefined || text.trim() === '') return
    if (element.text.length + text.length > PENDING_CHARS_MAX) {
      throw new ListFormatError('the XML holds a text of unreasonable size')
    }
    element.text += text
  }

  #close(): void {
    const element = this.#path.at(-1)
    if (element !== undefined) this.#handler.close(element, this.#path)
    this.#path.pop()
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** A date as the publisher wrote it, short enough to keep. */
export function publishedText(text: string): string | null {
  const trimmed = text.trim().replace(/\s+/g, ' ').slice(0, DATE_CHARS_MAX)
  return trimmed === '' ? null : trimmed
}
