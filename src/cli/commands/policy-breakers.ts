import type { Command } from 'commander'
import { isoTime } from '../../domain/iso-time.js'
import { allOf } from '../all-pages.js'
import { type Replayed, replayLog } from '../breaker-log.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { allKeys, type Key, keyIn, policyOfKey } from '../key-policy.js'
import { printRows } from '../print.js'
import { replayUserLog } from '../user-breaker-log.js'

export function registerBreakers(policy: Command, io: Io): void {
  policy
    .command('breakers')
    .description('recompute from the audit trail when breakers had to trip')
    .argument('[key_id]', "the key whose breakers to check (default: the user's breakers)")
    .action(async (keyId: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const replayed = keyId === undefined ? await ofUser(client) : await ofKey(client, keyId)
      const trips = replayed.trips.map(({ atMs, reason, frozenAtMs }) => ({
        trips_at: isoTime(atMs),
        reason,
        frozen_at: frozenAtMs === null ? null : isoTime(frozenAtMs),
      }))
      const unexplained = replayed.unexplained.map(({ at, details }) => ({
        trips_at: null,
        reason: String(details.reason),
        frozen_at: at,
      }))
      const rows = [...trips, ...unexplained]
      printRows(io, options, { trips: rows }, rows, ['trips_at', 'frozen_at', 'reason'])
      if (unexplained.length > 0)
        io.err('The audit trail does not explain some of these freezes.\n')
    })
}

type ConsoleClient = Awaited<ReturnType<typeof consoleClient>>

async function ofUser(client: ConsoleClient): Promise<Replayed> {
  return replayUserLog(await logOf(client, {}))
}

async function ofKey(client: ConsoleClient, keyId: string): Promise<Replayed> {
  const keys = await allKeys(client)
  const key = keyIn(keys, keyId)
  const keyIds = lineOf(key, keys)
  return replayLog({
    breakers: policyOfKey(key)?.breakers ?? [],
    keyIds,
    idsBelow: below(keyIds, keys),
    ...(await logOf(client, { sub_wallet_id: key.sub_wallet_id })),
  })
}

async function logOf(client: ConsoleClient, of: { readonly sub_wallet_id?: string }) {
  return {
    records: await allOf(
      (page) => client.listAudit({ ...of, ...page }),
      ({ records }) => records,
    ),
    transactions: await allOf(
      (page) => client.listTransactions({ ...of, ...page }),
      ({ transactions }) => transactions,
    ),
  }
}

/** Returns the key, its predecessors and its successors. */
function lineOf(key: Key, keys: readonly Key[]): ReadonlySet<string> {
  const line = new Set([key.key_id])
  for (let before = 0; before < line.size; ) {
    before = line.size
    for (const { key_id, rotated_from } of keys) {
      if (rotated_from === null) continue
      if (line.has(key_id)) line.add(rotated_from)
      if (line.has(rotated_from)) line.add(key_id)
    }
  }
  return line
}

/** Returns the keys that those of a lineage made, at every level, including their rotations. */
function below(line: ReadonlySet<string>, keys: readonly Key[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const { key_id, parent_key_id, rotated_from } of keys) {
      const maker = parent_key_id ?? ''
      const isBelow = line.has(maker) || found.has(maker) || found.has(rotated_from ?? '')
      if (isBelow && !line.has(key_id)) found.add(key_id)
    }
  }
  return found
}
