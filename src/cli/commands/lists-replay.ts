import { join } from 'node:path'
import type { Command } from 'commander'
import type { ChainId } from '../../domain/chains.js'
import { ID_PREFIX, ulidBody } from '../../domain/ids.js'
import { createListOwner, type ListOwnerOptions } from '../../screening/lists/list-owner.js'
import { createScreener } from '../../screening/local-screener.js'
import { replayCalls, type StoredCall } from '../../screening/replay.js'
import { WalkPool } from '../../screening/walk-pool.js'
import { openBesideService } from '../../store/environment.js'
import { createReader } from '../../store/reader.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRows } from '../print.js'

/** `lists replay` judges past transactions by today's lists. It works beside a running service. */
export function registerReplay(
  lists: Command,
  io: Io,
  contextOf: (io: Io, options: GlobalOptions) => ListOwnerOptions,
): void {
  lists
    .command('replay')
    .description("past transactions that today's lists would stop; exit code 3 if there are any")
    .requiredOption('--since <time>', 'ISO 8601 time, e.g. 2026-01-01')
    .action(async (given: { since: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const sinceMs = Date.parse(given.since)
      if (Number.isNaN(sinceMs)) throw new UsageError(`${given.since} is not an ISO 8601 time`)
      const owner = await createListOwner(contextOf(io, options))
      const screener = createScreener({ lists: owner, walkPool: new WalkPool() })
      const environment = openBesideService(
        join(homeOf(io, options), 'service', 'store'),
        ({ message }) => io.err(`left out: ${message}\n`),
      )
      try {
        const { ready, reason } = owner.status()
        if (!ready) {
          io.err(`the lists cannot judge now: ${reason ?? 'unknown'}\n`)
          process.exitCode = EXIT.unavailable
          return
        }
        const exposures = []
        let screened = 0
        const calls = callsSince(environment, sinceMs, () => screened++)
        for await (const { id, verdict } of replayCalls(screener, calls)) {
          const hit = verdict.outcome === 'blocked' ? verdict.hit : null
          exposures.push({
            tx_id: id,
            outcome: verdict.outcome,
            address: hit?.address ?? null,
            list: hit?.list ?? null,
            path: hit?.path ?? null,
          })
        }
        const columns = ['tx_id', 'outcome', 'address', 'list', 'path']
        const answer = { since: given.since, screened, exposures }
        if (exposures.length === 0 && options.json !== true) {
          io.out(`none of ${screened} transactions would be stopped\n`)
        } else printRows(io, options, answer, exposures, columns)
        if (exposures.length > 0) process.exitCode = EXIT.refused
      } finally {
        await screener.close()
        owner.close()
        await environment.root.close()
      }
    })
}

function* callsSince(
  environment: ReturnType<typeof openBesideService>,
  sinceMs: number,
  counted: () => void,
): Generator<StoredCall> {
  const first = ID_PREFIX.tx + ulidBody(Math.max(0, sinceMs), new Uint8Array(10))
  for (const { txId, userId, call } of createReader(environment).transactions.from(first)) {
    counted()
    const { chainId, to, data } = call
    yield { id: txId, userId, chainId: chainId as ChainId, to, data }
  }
}
