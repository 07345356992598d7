import { parseListedAddress } from '../set/address-bytes.js'
import { EntryCollector, listVersion, type NamedList } from './named-list.js'

/**
 * A handful of addresses that OFAC lists (cyber2, DPRK), so that a fresh dev instance blocks
 * something. It is a sample and never loaded by a live service.
 */
const DEV_SAMPLE = [
  '0x098B716B8Aaf21512996dC57EB0615e2383E2f96',
  '0xa0e1c89Ef1a489c9C7dE96311eD5Ce5D32c20E4B',
  '0x3Cffd56B47B7b41c56258D9C7731ABaDc360E073',
  '0x53b6936513e738f44FB50d2b9476730C0Ab3Bfc1',
  '0x35fB6f6DB4fb05e6A4cE86f2C93691425626d4b1',
  '0xF7B31119c2682c88d88D455dBb9d5932c65Cf1bE',
  '0x3e37627dEAA754090fBFbb8bd226c1CE66D255e9',
  '0x08723392Ed15743cc38513C4925f5e6be5c17243',
] as const

export function devList(isProtected: (entry: Uint8Array) => boolean): NamedList {
  const collector = new EntryCollector(isProtected)
  for (const text of DEV_SAMPLE) {
    const entry = parseListedAddress(text)
    if (entry !== null) collector.add(entry, text)
  }
  const packed = collector.packed()
  return {
    name: 'dev-sample',
    kind: 'sanctions',
    source: 'built in',
    version: listVersion(packed),
    checkedAtMs: 0,
    maxAgeMs: null,
    packed,
    refused: [],
    refusedCount: 0,
  }
}
