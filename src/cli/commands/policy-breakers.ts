import type { Command } from 'commander'
import type { ConsoleOutput } from '../../api/console-operations.js'
import { isoTime } from '../../domain/iso-time.js'
import { parsePolicy } from '../../policy/parse-policy.js'
import type { Breaker } from '../../policy/policy.js'
import { replayLog } from '../breaker-log.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRows } from '../print.js'

type Key = ConsoleOutput<'list_keys'>['keys'][number]

const PAGE = 100
/** Of each list: a trail that is longer says so, and is read from there on. */
const ENTRIES_MAX = 100_000

export function registerBreakers(policy: Command, io: Io): void {
  policy
    .command('breakers')
    .description("when a key's breakers had to trip, worked out again from the audit trail")
    .argument('<key_id>')
    .action(async (keyId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const keys = await all(
        (page) => client.listKeys(page),
        ({ keys }) => keys,
      )
      const key = keys.find(({ key_id }) => key_id === keyId)
      if (key === undefined) throw new UsageError(`${keyId} is no key of yours`)
      const of = { sub_wallet_id: key.sub_wallet_id }
      const replayed = replayLog({
        breakers: breakersOf(key),
        keyIds: lineOf(key, keys),
        records: await all(
          (page) => client.listAudit({ ...of, ...page }),
          ({ records }) => records,
        ),
        transactions: await all(
          (page) => client.listTransactions({ ...of, ...page }),
          ({ transactions }) => transactions,
        ),
      })
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
      if (unexplained.length > 0) io.err('No entry of the trail explains some of these freezes.\n')
    })
}

function breakersOf({ policy }: Key): readonly Breaker[] {
  const parsed = policy === null ? null : parsePolicy(policy)
  return parsed?.ok === true ? parsed.policy.breakers : []
}

/** The key, with those that it succeeded and those that succeed it. */
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

async function all<Answer extends { readonly next_cursor: string | null }, Item>(
  ask: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Answer>,
  itemsOf: (answer: Answer) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null = ''; cursor !== null && items.length < ENTRIES_MAX; ) {
    const answer: Answer = await ask({ limit: PAGE, ...(cursor === '' ? {} : { cursor }) })
    items.push(...itemsOf(answer))
    cursor = answer.next_cursor
  }
  return items
}
