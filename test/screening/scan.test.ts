/** The scan by itself, at every place where an address can lie besides the places that it asks. */
import { describe, expect, it } from 'vitest'
import {
  buildAddressSet,
  GRAM_BITS_LARGE,
  GRAM_BITS_SMALL,
} from '../../src/screening/set/address-set.js'
import { SCAN_TAIL_BYTES, type ScanHit, scanCalldata } from '../../src/screening/set/scan.js'

const LISTED = Buffer.from('8589427373d6d84e98730d7795d8f6f8731fda16', 'hex')
const OTHER = Buffer.from('5fa9c1d2e3b4a5968778695a4b3c2d1e0f102132', 'hex')
const FILLERS = [0x00, 0x5b, 0xff]
const TEXT_FILLERS = ['g', '0', 'a']
const OFFSETS = 40
const sets = [GRAM_BITS_LARGE, GRAM_BITS_SMALL].map((bits) =>
  buildAddressSet([{ packed: Buffer.concat([OTHER, LISTED]), listIndex: 0 }], bits),
)

function scanned(calldata: Buffer, counts = (_entry: number) => true): (ScanHit | null)[] {
  const padded = Buffer.concat([calldata, Buffer.alloc(SCAN_TAIL_BYTES)])
  return sets.map((set) => scanCalldata(set, padded, calldata.length, counts))
}

function expectHit(calldata: Buffer, hit: Partial<ScanHit>): void {
  for (const each of scanned(calldata)) expect(each).toMatchObject(hit)
}

describe('a listed address is found by the scan', () => {
  it('as bytes, at every offset, with every number of bytes behind it', () => {
    for (const filler of FILLERS) {
      for (let offset = 0; offset < OFFSETS; offset++) {
        for (let behind = 0; behind < OFFSETS; behind++) {
          const around = [Buffer.alloc(offset, filler), LISTED, Buffer.alloc(behind, filler)]
          expectHit(Buffer.concat(around), { entry: 1, offset, form: 'bytes' })
        }
      }
    }
  })

  it('as hex text, at every offset and of either parity, in runs of every length', () => {
    const text = LISTED.toString('hex')
    for (const filler of TEXT_FILLERS) {
      for (let offset = 0; offset < OFFSETS; offset++) {
        for (let behind = 0; behind < OFFSETS; behind++) {
          const around = filler.repeat(offset) + text + filler.repeat(behind)
          expectHit(Buffer.from(around), { entry: 1, offset, form: 'ascii' })
        }
      }
    }
  })

  it('when the calldata leaves out any number of its trailing zeros', () => {
    for (let zeros = 1; zeros < LISTED.length; zeros++) {
      const kept = LISTED.subarray(0, LISTED.length - zeros)
      const packed = Buffer.concat([kept, Buffer.alloc(zeros)])
      const set = buildAddressSet([{ packed, listIndex: 0 }])
      for (let offset = 0; offset < OFFSETS; offset++) {
        const calldata = Buffer.concat([Buffer.alloc(offset, 0x5b), kept])
        const padded = Buffer.concat([calldata, Buffer.alloc(SCAN_TAIL_BYTES)])
        const hit = scanCalldata(set, padded, calldata.length, () => true)
        expect(hit).toMatchObject({ entry: 0, offset })
      }
    }
  })

  it('behind one that does not count, in the same step and in a later one', () => {
    for (let between = 0; between < OFFSETS; between++) {
      const bytes = Buffer.concat([OTHER, Buffer.alloc(between), LISTED])
      const text = Buffer.from(bytes.toString('hex'))
      for (const hit of [...scanned(bytes, isListed), ...scanned(text, isListed)]) {
        expect(hit?.entry).toBe(1)
      }
    }
    function isListed(entry: number): boolean {
      return entry === 1
    }
  })
})

describe('the scan finds nothing', () => {
  it('where one bit differs, at any offset', () => {
    for (let bit = 0; bit < LISTED.length * 8; bit++) {
      const near = Buffer.from(LISTED)
      near[bit >> 3] = (near[bit >> 3] as number) ^ (1 << (bit & 7))
      for (let offset = 0; offset < 20; offset++) {
        const calldata = Buffer.concat([Buffer.alloc(offset), near, Buffer.alloc(20)])
        expect(scanned(calldata)).toEqual([null, null])
        expect(scanned(Buffer.from(calldata.toString('hex')))).toEqual([null, null])
      }
    }
  })

  it('in text whose run is a character short, or broken', () => {
    const text = LISTED.toString('hex')
    for (let at = 0; at < text.length; at++) {
      const broken = `${text.slice(0, at)}-${text.slice(at + 1)}`
      expect(scanned(Buffer.from(broken))).toEqual([null, null])
      expect(scanned(Buffer.from(text.slice(0, at)))).toEqual([null, null])
    }
  })
})
