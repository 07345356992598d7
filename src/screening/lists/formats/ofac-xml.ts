/**
 * OFAC's SDN list in its three XML formats. All mark an account with the text "Digital Currency
 * Address - <ticker>"; every ticker is read, since some EVM accounts are listed only under a
 * token's ticker. Numeric ids of feature types have changed and are resolved by that text.
 */
import { ListFormatError, type ListParser, type ParsedList, type TakeValue } from './list-parser.js'
import { publishedText, type XmlElement, XmlEvents } from './xml-events.js'

const DIGITAL_CURRENCY = /^\s*Digital Currency Address\b/i

type OfacFormat = 'ofac-advanced' | 'ofac-enhanced' | 'ofac-classic'

/** The formats by the document's root element. */
const FORMATS: ReadonlyMap<string, OfacFormat> = new Map([
  ['Sanctions', 'ofac-advanced'],
  ['sanctionsData', 'ofac-enhanced'],
  ['sdnList', 'ofac-classic'],
])

/** The elements with each format's date. */
const DATE_ELEMENTS: ReadonlySet<string> = new Set(['dataAsOf', 'Publish_Date'])

export class OfacXmlParser implements ListParser {
  readonly #take: TakeValue
  readonly #xml: XmlEvents
  #format: OfacFormat | null = null
  /** Advanced: ids of the feature types that are accounts. */
  readonly #featureTypeIds = new Set<string>()
  /** Enhanced and classic: the type and the values of the open feature or id. */
  #type = ''
  #values: string[] = []
  #entries = 0
  #marked = false
  #published: string | null = null
  readonly #issued = { year: '', month: '', day: '' }

  constructor(take: TakeValue) {
    this.#take = take
    this.#xml = new XmlEvents({
      open: (element, path) => this.#open(element, path),
      close: (element, path) => this.#close(element, path),
    })
  }

  write(text: string): void {
    this.#xml.write(text)
  }

  end(): ParsedList {
    this.#xml.end()
    if (this.#format === null || this.#entries === 0) {
      throw new ListFormatError('this is not the SDN list: it names no party')
    }
    if (!this.#marked) {
      throw new ListFormatError('no digital currency address is marked: the format has changed')
    }
    const { year, month, day } = this.#issued
    const issued = year === '' ? null : [year, month, day].map((part) => part.padStart(2, '0'))
    return { format: this.#format, published: this.#published ?? issued?.join('-') ?? null }
  }

  #open(element: XmlElement, path: readonly XmlElement[]): void {
    if (path.length === 1) {
      this.#format = FORMATS.get(element.name) ?? null
      if (this.#format === null) {
        throw new ListFormatError(`this is not the SDN list: its root element is ${element.name}`)
      }
    }
    if (element.name === 'feature' || element.name === 'id') {
      this.#type = ''
      this.#values = []
    }
  }

  #close(element: XmlElement, path: readonly XmlElement[]): void {
    if (DATE_ELEMENTS.has(element.name)) this.#published ??= publishedText(element.text)
    if (this.#format === 'ofac-advanced') this.#closeAdvanced(element, path)
    else this.#closeTyped(element, path.at(-2)?.name ?? '')
  }

  #closeAdvanced(element: XmlElement, path: readonly XmlElement[]): void {
    switch (element.name) {
      case 'FeatureType':
        if (DIGITAL_CURRENCY.test(element.text) && element.attributes.ID !== undefined) {
          this.#featureTypeIds.add(element.attributes.ID)
          this.#marked = true
        }
        break
      case 'DistinctParty':
        this.#entries++
        break
      case 'VersionDetail': {
        const feature = path.findLast(({ name }) => name === 'Feature')
        const typeId = feature?.attributes.FeatureTypeID
        if (typeId !== undefined && this.#featureTypeIds.has(typeId)) this.#take(element.text)
        break
      }
      case 'Year':
      case 'Month':
      case 'Day':
        if (path.at(-2)?.name === 'DateOfIssue') {
          const part = element.name.toLowerCase() as 'year' | 'month' | 'day'
          this.#issued[part] = element.text.trim().slice(0, 4)
        }
        break
    }
  }

  /** Enhanced: `feature/type` and `feature/value`. Classic: `id/idType` and `id/idNumber`. */
  #closeTyped(element: XmlElement, parent: string): void {
    const { name, text } = element
    if (name === 'entity' || name === 'sdnEntry') this.#entries++
    else if ((parent === 'feature' && name === 'type') || (parent === 'id' && name === 'idType')) {
      this.#type = text
    } else if (
      (parent === 'feature' && name === 'value') ||
      (parent === 'id' && name === 'idNumber')
    ) {
      this.#values.push(text)
    } else if ((name === 'feature' || name === 'id') && DIGITAL_CURRENCY.test(this.#type)) {
      this.#marked = true
      for (const value of this.#values) this.#take(value)
    }
  }
}
