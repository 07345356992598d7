import type { Address, Hex, UserId } from '../../src/domain/ids.js'
import type { ListKind } from '../../src/screening/lists/named-list.js'
import type { ListsReader, OpenLists } from '../../src/screening/lists/published-lists.js'
import { createScreener, type ScreenerOptions } from '../../src/screening/local-screener.js'
import type { ScreenedCall, Screener, Verdict } from '../../src/screening/screener.js'
import { parseListedAddress } from '../../src/screening/set/address-bytes.js'
import { buildAddressSet } from '../../src/screening/set/address-set.js'
import { WalkPool } from '../../src/screening/walk-pool.js'

/** On the list of every test; EIP-55 form. */
export const LISTED: Address = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96'
export const LISTED_HEX = LISTED.slice(2).toLowerCase()
/** On no list; distinct, so that a path shows which one was meant. */
export const CLEAN: readonly Address[] = Array.from(
  { length: 32 },
  (_, i) => `0x5aa1c0de9b7e4d21f00d${(0xabc0 + i).toString(16)}77e1c3b8a6d9e2f4` as const,
)
export const TARGET: Address = '0x1f9840a85d5af5bf1d1762f925bdaddc4201f984'
export const USER = 'user_01' as UserId

/** The worker module as built: vitest runs sources, worker threads run what `npm run build` made. */
const BUILT_WALK = new URL('../../dist/src/pool/walk-calldata.js', import.meta.url)

export function packed(addresses: readonly string[]): Uint8Array {
  return Buffer.concat(addresses.map((text) => parseListedAddress(text) ?? Buffer.alloc(0)))
}

export interface TestList {
  readonly name: string
  readonly kind: ListKind
  readonly addresses: readonly string[]
}

/** Lists that never change, without files. */
export function fixedLists(
  lists: readonly TestList[],
  limits: Partial<Pick<OpenLists, 'staleAtMs' | 'unusable'>> = {},
): ListsReader {
  const parts = lists.map(({ addresses }, listIndex) => ({ packed: packed(addresses), listIndex }))
  const open: OpenLists = {
    sequence: 1,
    set: buildAddressSet(parts),
    lists: lists.map(({ name, kind, addresses }) => ({
      list: name,
      kind,
      source: 'test',
      version: 'v1',
      entries: addresses.length,
      checkedAtMs: 0,
      maxAgeMs: null,
    })),
    staleAtMs: null,
    unusable: null,
    ...limits,
  }
  return { current: () => open, close: () => {} }
}

/** What it says is not to hang on what else the machine does. */
export function builtPool(): WalkPool {
  return new WalkPool(BUILT_WALK, 30_000)
}

export function testScreener(options: Partial<ScreenerOptions> = {}): Screener {
  return createScreener({
    lists: fixedLists([{ name: 'test-list', kind: 'sanctions', addresses: [LISTED] }]),
    walkPool: builtPool(),
    ...options,
  })
}

export function callOf(data: Hex | Uint8Array, more: Partial<ScreenedCall> = {}): ScreenedCall {
  return { chainId: 1, userId: USER, to: TARGET, data, ...more }
}

/** A verdict in a few words: `clean`, or what stopped the call and where. */
export function told(verdict: Verdict): string {
  switch (verdict.outcome) {
    case 'clean':
      return 'clean'
    case 'blocked':
      return `blocked ${verdict.hit.list} ${verdict.hit.path}`
    default:
      return `${verdict.outcome} ${verdict.reason}`
  }
}
