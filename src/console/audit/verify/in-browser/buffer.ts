/**
 * The part of Node's Buffer that the evidence code uses, over the browser's bytes. The build
 * replaces Buffer with it in the worker; `test/console/evidence-worker.test.ts` compares it with
 * Node's.
 */

type Encoding = 'hex' | 'utf8' | 'latin1' | 'binary' | 'base64url'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

class BrowserBuffer extends Uint8Array {
  static alloc(length: number): BrowserBuffer {
    return new BrowserBuffer(length)
  }

  static allocUnsafe(length: number): BrowserBuffer {
    return new BrowserBuffer(length)
  }

  static allocUnsafeSlow(length: number): BrowserBuffer {
    return new BrowserBuffer(length)
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof BrowserBuffer
  }

  static concat(parts: readonly Uint8Array[]): BrowserBuffer {
    const out = new BrowserBuffer(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      out.set(part, at)
      at += part.length
    }
    return out
  }

  static compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const shared = Math.min(a.length, b.length)
    for (let at = 0; at < shared; at++) {
      const difference = (a[at] ?? 0) - (b[at] ?? 0)
      if (difference !== 0) return difference < 0 ? -1 : 1
    }
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1
  }

  override toString(encoding: Encoding = 'utf8'): string {
    if (encoding === 'utf8') return decoder.decode(this)
    let out = ''
    if (encoding === 'hex') for (const byte of this) out += HEX[byte] ?? ''
    else for (const byte of this) out += String.fromCharCode(byte)
    return encoding === 'base64url'
      ? btoa(out).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
      : out
  }

  equals(other: Uint8Array): boolean {
    return BrowserBuffer.compare(this, other) === 0
  }

  copy(target: Uint8Array, at: number, start = 0, end = this.length): number {
    const part = this.subarray(start, end)
    target.set(part, at)
    return part.length
  }

  /** Reads hex as far as the text is hex; returns the number of bytes. */
  write(text: string, ...rest: readonly (number | string)[]): number {
    const [offset, length] = rest.filter((one) => typeof one === 'number')
    const bytes = bytesOfHex(text).subarray(0, length)
    this.set(bytes, offset)
    return bytes.length
  }

  writeUInt8(value: number, at = 0): number {
    return this.#writeCount(value, at, 1)
  }

  writeUInt16BE(value: number, at = 0): number {
    return this.#writeCount(value, at, 2)
  }

  writeUInt32BE(value: number, at = 0): number {
    return this.#writeCount(value, at, 4)
  }

  writeBigUInt64BE(value: bigint, at = 0): number {
    new DataView(this.buffer, this.byteOffset, this.length).setBigUint64(at, value)
    return at + 8
  }

  #writeCount(value: number, at: number, length: number): number {
    const isWritable = Number.isInteger(value) && value >= 0 && value < 256 ** length
    if (!isWritable || at + length > this.length) throw new RangeError('out of range')
    for (let byte = 0; byte < length; byte++) {
      this[at + byte] = Math.floor(value / 256 ** (length - 1 - byte)) % 256
    }
    return at + length
  }
}

/** Defined this way because `Uint8Array.from` does not allow these overloads. */
Object.defineProperty(BrowserBuffer, 'from', {
  value(
    source: string | ArrayBuffer | Iterable<number>,
    encoding?: Encoding | number,
    length?: number,
  ): BrowserBuffer {
    if (typeof source === 'string') return new BrowserBuffer(bytesOf(source, encoding))
    if (source instanceof ArrayBuffer) {
      return new BrowserBuffer(source, typeof encoding === 'number' ? encoding : 0, length)
    }
    return new BrowserBuffer(source)
  },
})

function bytesOf(text: string, encoding: Encoding | number = 'utf8'): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf8') return new TextEncoder().encode(text)
  if (encoding === 'hex') return bytesOfHex(text)
  if (encoding === 'latin1' || encoding === 'binary') {
    return Uint8Array.from(text, (char) => char.charCodeAt(0))
  }
  throw new Error('an encoding that evidence has no use for')
}

function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const [digits = ''] = /^(?:[0-9a-f]{2})*/i.exec(text) ?? []
  const out = new Uint8Array(digits.length / 2)
  for (let at = 0; at < out.length; at++) {
    out[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  }
  return out
}

export { BrowserBuffer as Buffer }
