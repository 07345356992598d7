/**
 * The UK and EU lists name accounts in free text: other information, statements of reasons,
 * remarks. All text and all attributes are read.
 */
import { ListFormatError, type ListParser, type ParsedList, type TakeValue } from './list-parser.js'
import { publishedText, type XmlElement, XmlEvents } from './xml-events.js'

interface FreeTextXmlKind {
  readonly format: string
  /** Root elements of the publisher's formats. */
  readonly roots: ReadonlySet<string>
  /** The elements of one listed party: a file without any is not a list. */
  readonly parties: ReadonlySet<string>
  readonly dateElements: ReadonlySet<string>
  /** The attribute of the root with the date. */
  readonly dateAttribute: string | null
}

export const UK_XML: FreeTextXmlKind = {
  format: 'uk-xml',
  roots: new Set(['Designations', 'ArrayOfFinancialSanctionsTarget']),
  parties: new Set(['Designation', 'FinancialSanctionsTarget']),
  dateElements: new Set(['DateGenerated']),
  dateAttribute: null,
}

export const EU_XML: FreeTextXmlKind = {
  format: 'eu-xml',
  roots: new Set(['export']),
  parties: new Set(['sanctionEntity']),
  dateElements: new Set(),
  dateAttribute: 'generationDate',
}

export class FreeTextXmlParser implements ListParser {
  readonly #xml: XmlEvents
  readonly #kind: FreeTextXmlKind
  #parties = 0
  #published: string | null = null

  constructor(kind: FreeTextXmlKind, take: TakeValue) {
    this.#kind = kind
    this.#xml = new XmlEvents({
      open: (element, path) => {
        if (path.length === 1) this.#root(element)
        for (const value of Object.values(element.attributes)) take(value)
      },
      close: (element) => {
        if (kind.parties.has(element.name)) this.#parties++
        if (kind.dateElements.has(element.name)) this.#published ??= publishedText(element.text)
        take(element.text)
      },
    })
  }

  write(text: string): void {
    this.#xml.write(text)
  }

  end(): ParsedList {
    this.#xml.end()
    if (this.#parties === 0) throw new ListFormatError('the list names no party')
    return { format: this.#kind.format, published: this.#published }
  }

  #root({ name, attributes }: XmlElement): void {
    if (!this.#kind.roots.has(name)) {
      throw new ListFormatError(`this is not the expected list: its root element is ${name}`)
    }
    const { dateAttribute } = this.#kind
    const date = dateAttribute === null ? undefined : attributes[dateAttribute]
    if (date !== undefined) this.#published = publishedText(date)
  }
}

/** Reads lines: a quoted CSV field may contain line breaks, but no address does. */
const LINE_CHARS_MAX = 4 * 1024 * 1024
const REPORT_DATE = /Report Date[:,\s]*"?([^",]+)/i
const UK_HEADER = /Unique ID|OFSI Group ID|Group ID/i
/** The report date and the header are in the first lines. */
const HEADER_LINES_MAX = 5

/** The UK list as CSV: a line with the report's date, then the header, then the rows. */
export class UkCsvParser implements ListParser {
  readonly #take: TakeValue
  #rest = ''
  #lines = 0
  #headerSeen = false
  #published: string | null = null

  constructor(take: TakeValue) {
    this.#take = take
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > LINE_CHARS_MAX) throw new ListFormatError('the CSV has no lines')
    for (const line of lines) this.#line(line)
  }

  end(): ParsedList {
    if (this.#rest !== '') this.#line(this.#rest)
    if (!this.#headerSeen || this.#lines < 3) {
      throw new ListFormatError('this is not the UK list: its header or its rows are missing')
    }
    return { format: 'uk-csv', published: this.#published }
  }

  #line(line: string): void {
    this.#lines++
    if (this.#lines <= HEADER_LINES_MAX) {
      const date = REPORT_DATE.exec(line)?.[1]
      if (date !== undefined) this.#published ??= publishedText(date)
      this.#headerSeen ||= UK_HEADER.test(line)
    }
    this.#take(line)
  }
}
