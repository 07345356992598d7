import { toChecksumAddress } from '../../api/parse-address.js'
import type { GasReading } from '../../defi/gas-balances.js'
import type { FreeSpace } from '../../disk/free-space.js'
import type { LastBackup } from '../../disk/last-backup.js'
import { isoTime } from '../../domain/iso-time.js'
import type { QueueTotal } from '../../domain/meter.js'
import type { Backlog, LaneBacklog } from '../../domain/path-meter.js'
import { ok } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'

/** Figures about the service; each is available at once, from what the process already holds. */
export interface ServiceFigures {
  readonly lanes: () => readonly (LaneBacklog & { readonly chainId: number })[]
  readonly gasWallets: () => readonly GasReading[]
  readonly queues: () => readonly QueueTotal[]
  readonly writes: () => {
    readonly active: number
    readonly waiting: number
    readonly activeMax: number
    readonly refusals: number
  }
  readonly webhooks: () => Backlog
  readonly disk: Pick<FreeSpace, 'freeBytes' | 'floorBytes'>
  readonly lastBackup: () => LastBackup | null
  readonly logLevel: string
  readonly readiness: () => {
    readonly status: 'ready' | 'not_ready'
    readonly draining: boolean
    /** With reasons and figures, which `/readyz` does not show to everybody. */
    readonly parts: Readonly<Record<string, Readiness>>
  }
}

interface Readiness {
  readonly status: 'up' | 'degraded' | 'down'
  readonly reason?: string
  readonly [fact: string]: unknown
}

const MS_PER_SECOND = 1_000

interface StatusPorts {
  readonly figures: ServiceFigures
  readonly nowMs: () => number
}

/**
 * Spec silent: everyone with a console sees these, in a live instance too. They cover all users
 * together and name none of them, and the balances of gas wallets are public on chain. What would
 * require a person whom the operator names is not here.
 */
export function getServiceStatus({
  figures,
  nowMs,
}: StatusPorts): ConsoleHandlers['get_service_status'] {
  return () => {
    const now = nowMs()
    const age = (atMs: number | null) =>
      atMs === null ? null : Math.max(0, Math.floor((now - atMs) / MS_PER_SECOND))
    const { active, waiting, activeMax, refusals } = figures.writes()
    const { count, oldestAtMs } = figures.webhooks()
    const readiness = figures.readiness()
    return ok({
      chains: figures.lanes().map((chain) => ({
        chain_id: chain.chainId,
        open_lanes: chain.lanes,
        open_transactions: chain.count,
        oldest_unconfirmed_seconds: age(chain.oldestAtMs),
      })),
      gas_wallets: figures.gasWallets().map(gasWalletView),
      queues: figures.queues().map(({ queue, length, waitMs, dropped }) => ({
        ...{ queue, length, wait_ms: Math.round(waitMs), dropped },
      })),
      writes: { active, waiting, active_max: Math.floor(activeMax), refused: refusals },
      webhooks: { waiting_events: count, oldest_seconds: age(oldestAtMs) },
      disk: { free_bytes: figures.disk.freeBytes, floor_bytes: figures.disk.floorBytes },
      last_backup: figures.lastBackup(),
      log_level: figures.logLevel,
      readiness: { ...readiness, parts: { ...readiness.parts } },
    })
  }
}

function gasWalletView({ gasWalletId, chainId, address, seen }: GasReading) {
  return {
    gas_wallet: gasWalletId,
    chain_id: chainId,
    address: toChecksumAddress(address),
    balance_wei: seen === null ? null : seen.wei.toString(),
    low_below_wei: seen === null ? null : seen.lowBelowWei.toString(),
    low: seen !== null && seen.wei < seen.lowBelowWei,
    checked_at: seen === null ? null : isoTime(seen.atMs),
  }
}
