import type { PolicyLedger } from '../../policy/policy-ledger.js'

/** A lineage's usage as its row has it: amounts of tokens go past what MessagePack has integers for. */
export interface StoredUsage {
  readonly windows: readonly (readonly [perSeconds: number, atMs: number[], counts: number[]])[]
  readonly units: readonly (readonly [
    chainId: number,
    token: string,
    day: number,
    dayUnits: string,
    month: number,
    monthUnits: string,
  ])[]
}

export function storedUsage({ windows, units }: PolicyLedger): StoredUsage {
  return {
    windows: windows.map(({ perSeconds, buckets }) => [
      perSeconds,
      buckets.map(({ atMs }) => atMs),
      buckets.map(({ count }) => count),
    ]),
    units: units.map(({ chainId, token, day, dayUnits, month, monthUnits }) => [
      chainId,
      token,
      day,
      dayUnits.toString(),
      month,
      monthUnits.toString(),
    ]),
  }
}

export function readUsage({ windows, units }: StoredUsage): PolicyLedger {
  return {
    windows: windows.map(([perSeconds, times, counts]) => ({
      perSeconds,
      // The user side knows no prices.
      buckets: times.map((atMs, at) => ({ atMs, count: counts[at] ?? 0, micros: 0n })),
    })),
    units: units.map(([chainId, token, day, dayUnits, month, monthUnits]) => ({
      ...{ chainId, day, month },
      token: token as PolicyLedger['units'][number]['token'],
      dayUnits: BigInt(dayUnits),
      monthUnits: BigInt(monthUnits),
    })),
  }
}
