import type { Address } from '../../src/domain/ids.js'
import { powerOfTen } from '../../src/domain/money.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener, Verdict } from '../../src/screening/screener.js'
import { ETHER_PRICE, priceOn } from './coins.js'
import type { Features } from './features.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

/** Of Ethereum's coin; others move with it. */
interface Quoted {
  readonly sinceMs: number
  readonly value: bigint
}

/** Whom agents pay; the second may come to be on a list. */
export const RECIPIENTS: readonly [Address, Address] = [
  '0x2222222222222222222222222222222222222221',
  '0x2222222222222222222222222222222222222222',
]
const MOVE_MS_MAX = 6_000
/** A feed that says nothing, or lists that nobody has. */
const AWAY_MS_MAX = 15_000
const CENT = powerOfTen(ETHER_PRICE.decimals - 2)
const LEAST = 100n * powerOfTen(ETHER_PRICE.decimals)

/** What the world says of calls: a price that moves and is away at times, and a list that grows. */
export class Markets {
  readonly prices: PriceSource
  readonly screener: Screener
  /** From when on the second recipient is on a list; null: it is on none. */
  listedAtMs: number | null = null
  /** All prices that there were. */
  readonly #quoted: Quoted[]
  readonly #features: Features
  readonly #draw: Draw
  readonly #scheduler: Scheduler
  readonly #note: (line: string) => void
  #priceAwayUntilMs = 0
  #listsAwayUntilMs = 0

  constructor(features: Features, draw: Draw, scheduler: Scheduler, note: (line: string) => void) {
    this.#features = features
    this.#draw = draw
    this.#scheduler = scheduler
    this.#note = note
    this.#quoted = [{ sinceMs: scheduler.nowMs, value: ETHER_PRICE.value }]
    this.prices = { price: (chainId) => this.#price(chainId), close: () => undefined }
    this.screener = {
      screen: ({ to }) => this.#screen(to),
      inspect: () => Promise.reject(new Error('nobody inspects')),
      readiness: () => ({ ready: true, reason: null }),
      close: async () => undefined,
    }
  }

  /** @param isOver from when on nothing moves any more */
  start(spanMs: number, isOver: () => boolean): void {
    const { priceMoves, priceGaps, listGaps, hasListings } = this.#features
    const draw = this.#draw
    if (priceMoves + priceGaps + listGaps > 0) this.#moveOn(isOver)
    if (!hasListings) return
    this.#scheduler.after(draw.integer(spanMs), () => {
      this.listedAtMs = this.#scheduler.nowMs
      this.#note('an address is listed')
    })
  }

  calm(): void {
    this.#priceAwayUntilMs = 0
    this.#listsAwayUntilMs = 0
  }

  /** Whether it was the price on a chain at some moment from one to another. */
  wasPrice(chainId: number, value: bigint, fromMs: number, untilMs: number): boolean {
    return this.#quoted.some((one, at) => {
      const endMs = this.#quoted[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY
      const { value: there } = priceOn(chainId, one.value)
      return there === value && one.sinceMs <= untilMs && endMs >= fromMs
    })
  }

  get #value(): bigint {
    return this.#quoted.at(-1)?.value ?? ETHER_PRICE.value
  }

  #moveOn(isOver: () => boolean): void {
    const draw = this.#draw
    const { priceMoves, priceGaps, listGaps } = this.#features
    this.#scheduler.after(draw.between(1, MOVE_MS_MAX), () => {
      if (isOver()) return
      const nowMs = this.#scheduler.nowMs
      const basisPoints = BigInt(Math.round((draw.fraction() * 2 - 1) * priceMoves * 10_000))
      const moved = (this.#value * (10_000n + basisPoints)) / 10_000n
      const value = moved < LEAST ? LEAST : moved - (moved % CENT)
      if (value !== this.#value) this.#quoted.push({ sinceMs: nowMs, value })
      if (draw.chance(priceGaps)) this.#priceAwayUntilMs = nowMs + draw.integer(AWAY_MS_MAX)
      if (draw.chance(listGaps)) this.#listsAwayUntilMs = nowMs + draw.integer(AWAY_MS_MAX)
      this.#moveOn(isOver)
    })
  }

  #price(chainId: number): ReturnType<PriceSource['price']> {
    const { nowMs } = this.#scheduler
    if (nowMs < this.#priceAwayUntilMs) return { unavailable: 'stale' }
    return { ...priceOn(chainId, this.#value), updatedAtMs: nowMs, source: 'simulated' }
  }

  #screen(to: Address): Verdict {
    const { nowMs } = this.#scheduler
    const lists: Verdict['lists'] = []
    if (nowMs < this.#listsAwayUntilMs) return { outcome: 'unavailable', lists, reason: 'no list' }
    const isListed = this.listedAtMs !== null && to === RECIPIENTS[1]
    if (!isListed) return { outcome: 'clean', lists }
    const of = { list: 'simulated', listVersion: '1', kind: 'sanctions' } as const
    return { outcome: 'blocked', lists, hit: { address: to, path: 'to', ...of } }
  }
}
