/** Reads a publisher's file, plain or zipped, of any size, in bounded memory. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Unzip, UnzipInflate } from 'fflate'
import { EntryCollector } from '../named-list.js'
import { readLine } from '../text-list.js'
import { evmAddressesIn, tronAddressesIn } from './address-text.js'
import { EU_XML, FreeTextXmlParser, UK_XML, UkCsvParser } from './free-text.js'
import { ListFormatError, type ListParser, type ParsedList, type TakeValue } from './list-parser.js'
import { OfacXmlParser } from './ofac-xml.js'

export type ListSource = 'ofac-sdn' | 'uk' | 'eu' | 'plain'

/** The effect of listed Tron accounts on EVM: none, or the address of the same key. */
export type TronPolicy = 'ignore' | 'same-key'

/** The size after unzipping. Today's largest list is about 120 MB. */
const LIST_FILE_BYTES_MAX = 1024 * 1024 * 1024
/** Inflates at most a thousandfold, so to 8 MB at a time. */
const ZIP_CHUNK_BYTES = 8 * 1024
const READ_CHUNK_BYTES = 256 * 1024
const MISMATCHES_SHOWN_MAX = 100

interface ReadList extends ParsedList {
  readonly collector: EntryCollector
  /** The hash of the file as it was read. */
  readonly sha256: string
  /** Mixed-case addresses whose checksum is wrong; they are listed anyway. */
  readonly checksumMismatches: readonly string[]
}

/**
 * @throws ListFormatError when the file is not the expected list, or breaks off
 * @throws Error of the file system
 */
export async function readListFile(
  path: string,
  source: ListSource,
  isProtected: (entry: Uint8Array) => boolean,
  tron: TronPolicy,
): Promise<ReadList> {
  const chunks = createReadStream(path, { highWaterMark: READ_CHUNK_BYTES })
  return readListChunks(chunks, source, isProtected, tron)
}

/** Reads a list from any source of bytes. */
export async function readListChunks(
  chunks: AsyncIterable<Uint8Array>,
  source: ListSource,
  isProtected: (entry: Uint8Array) => boolean,
  tron: TronPolicy,
): Promise<ReadList> {
  const collector = new EntryCollector(isProtected)
  const checksumMismatches: string[] = []
  const take: TakeValue = (text) => {
    const found = evmAddressesIn(text)
    for (const { bytes, text: written, checksumWrong } of found) {
      collector.add(bytes, written)
      if (checksumWrong && checksumMismatches.length < MISMATCHES_SHOWN_MAX) {
        checksumMismatches.push(written)
      }
    }
    if (tron === 'ignore') return
    for (const { bytes, text: written } of tronAddressesIn(text)) collector.add(bytes, written)
  }
  const reading = new ListReading(source, take, collector)
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    hash.update(chunk)
    reading.write(chunk)
  }
  const parsed = reading.end()
  return { ...parsed, collector, sha256: hash.digest('hex'), checksumMismatches }
}

class ListReading {
  readonly #source: ListSource
  readonly #take: TakeValue
  readonly #collector: EntryCollector
  readonly #decoder = new TextDecoder('utf-8')
  #unzip: Unzip | null = null
  #parser: ListParser | null = null
  #started = false
  #bytes = 0

  constructor(source: ListSource, take: TakeValue, collector: EntryCollector) {
    this.#source = source
    this.#take = take
    this.#collector = collector
  }

  write(chunk: Uint8Array): void {
    if (!this.#started && chunk.length > 0) {
      this.#started = true
      // A local file header of a ZIP starts with "PK".
      if (chunk[0] === 0x50 && chunk[1] === 0x4b) this.#unzip = this.#openZip()
    }
    if (this.#unzip === null) {
      this.#plain(chunk)
      return
    }
    for (let at = 0; at < chunk.length; at += ZIP_CHUNK_BYTES) {
      this.#unzip.push(chunk.subarray(at, at + ZIP_CHUNK_BYTES))
    }
  }

  end(): ParsedList {
    this.#unzip?.push(new Uint8Array(0), true)
    this.#text(this.#decoder.decode())
    if (this.#parser === null) throw new ListFormatError('the file is empty')
    return this.#parser.end()
  }

  #openZip(): Unzip {
    let entries = 0
    const unzip = new Unzip((file) => {
      entries++
      if (entries > 1) throw new ListFormatError('the archive holds more than the list')
      file.ondata = (error, data) => {
        if (error !== null) throw new ListFormatError('the archive is damaged', { cause: error })
        this.#plain(data)
      }
      file.start()
    })
    unzip.register(UnzipInflate)
    return unzip
  }

  #plain(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#bytes > LIST_FILE_BYTES_MAX) throw new ListFormatError('the list is too large')
    this.#text(this.#decoder.decode(bytes, { stream: true }))
  }

  #text(text: string): void {
    if (text === '') return
    this.#parser ??= this.#parserFor(text)
    this.#parser.write(text)
  }

  #parserFor(start: string): ListParser {
    const isXml = start.trimStart().startsWith('<')
    switch (this.#source) {
      case 'ofac-sdn':
        return new OfacXmlParser(this.#take)
      case 'uk':
        return isXml ? new FreeTextXmlParser(UK_XML, this.#take) : new UkCsvParser(this.#take)
      case 'eu':
        return new FreeTextXmlParser(EU_XML, this.#take)
      case 'plain':
        if (isXml) throw new ListFormatError('this is XML, not a plain list')
        return new PlainParser(this.#collector)
    }
  }
}

const PLAIN_LINE_CHARS_MAX = 64 * 1024

/** One address per line; any other text is refused and reported. */
class PlainParser implements ListParser {
  readonly #collector: EntryCollector
  #rest = ''

  constructor(collector: EntryCollector) {
    this.#collector = collector
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > PLAIN_LINE_CHARS_MAX) throw new ListFormatError('the list has no lines')
    for (const line of lines) readLine(line, this.#collector)
  }

  end(): ParsedList {
    readLine(this.#rest, this.#collector)
    return { format: 'plain', published: null }
  }
}
