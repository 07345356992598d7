import type { Hex } from '../domain/ids.js'
import { CALLDATA_BYTES_MAX } from './screener.js'
import { SCAN_TAIL_BYTES } from './set/scan.js'

/**
 * One thread's buffer for the calldata that is being screened, followed by the zeros that the scan
 * needs. Loading the next calldata overwrites it: keep a copy across an await.
 */
export class CalldataBuffer {
  readonly bytes = Buffer.alloc(CALLDATA_BYTES_MAX + SCAN_TAIL_BYTES)

  /** @returns the length in bytes, or -1 when the data is not whole bytes of hex or too long */
  load(data: Hex | Uint8Array): number {
    const length = typeof data === 'string' ? this.#loadHex(data) : this.#loadBytes(data)
    if (length >= 0) this.bytes.fill(0, length, length + SCAN_TAIL_BYTES)
    return length
  }

  /** The calldata without the zeros, in memory of its own. */
  copy(length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes.subarray(0, length))
  }

  /** The calldata with the zeros that the scan needs. */
  copyForScan(length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes.subarray(0, length + SCAN_TAIL_BYTES))
  }

  #loadBytes(data: Uint8Array): number {
    if (data.length > CALLDATA_BYTES_MAX) return -1
    this.bytes.set(data)
    return data.length
  }

  /**
   * The native decoder stops silently at a bad digit and drops half a byte, which shows in the
   * length. It also takes the low byte of characters beyond Latin-1, so those are searched for
   * first.
   */
  #loadHex(data: string): number {
    const length = (data.length - 2) / 2
    if (!data.startsWith('0x') || !Number.isInteger(length) || length > CALLDATA_BYTES_MAX)
      return -1
    if (Buffer.byteLength(data) !== data.length) return -1
    return this.bytes.write(data.slice(2), 0, 'hex') === length ? length : -1
  }
}
