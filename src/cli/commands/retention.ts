import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { DAY_MS } from '../../domain/retention.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { verifiedTime } from '../operator/verified-time.js'
import { integerOption } from '../options.js'
import { printRecord } from '../print.js'

/** The pause between two steps, so that a running service can commit. */
const REST_MS = 20

interface RetentionFlags extends GlobalOptions {
  readonly deliveriesDays?: number
  readonly eventsDays?: number
  readonly auditDays?: number
  readonly dryRun?: boolean
  readonly trustClock?: boolean
}

/** Removes old records once. A running service does it by itself, by COUNTERSIGN_RETAIN_…_DAYS. */
export function register(program: Command, io: Io): void {
  program
    .command('retention')
    .description('remove old deliveries, events and audit entries from the store of the service')
    .option('--deliveries-days <days>', 'finished deliveries older than this', daysOption)
    .option('--events-days <days>', 'events older than this, from the oldest on', daysOption)
    .option('--audit-days <days>', 'audit entries older than this', daysOption)
    .option('--dry-run', 'count what would be removed, and remove nothing')
    .option(
      '--trust-clock',
      "use this machine's clock without checking it against the chains' nodes",
    )
    .addHelpText(
      'after',
      `
Only what an option names is removed. Never removed: what a webhook has still to deliver, events and
entries of transactions that are not final, transactions themselves, and the evidence of both domains.
Age is decided by this machine's clock, after a check against the newest blocks of the home's chains.
The service may run. An interrupted run leaves a consistent store.`,
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<RetentionFlags>()
      const retention = {
        deliveriesMs: spanOf(options.deliveriesDays),
        eventsMs: spanOf(options.eventsDays),
        auditMs: spanOf(options.auditDays),
      }
      if (Object.values(retention).every((ms) => ms === null)) {
        throw new UsageError(
          'choose what to remove: --deliveries-days, --events-days, --audit-days',
        )
      }
      const home = homeOf(io, options)
      const store = join(home, 'service', 'store')
      if (!existsSync(store)) throw new UsageError(`there is no store in ${home}`)
      const { pruneOnce } = await import('../../../actors/retention/prune-once.js')
      const mode = options.dryRun === true ? 'count' : 'remove'
      const trusted = options.trustClock === true || mode === 'count'
      const nowMs = trusted ? Date.now() : await verifiedTime(home)
      const { heldBack, ...pruned } = await holding(
        () => lockMaintenance(home, 'service', 'retention'),
        () => pruneOnce(store, retention, mode, nowMs, () => delay(REST_MS)),
      )
      printRecord(io, options, {
        ...pruned,
        users_held_back: heldBack,
        dry_run: options.dryRun === true,
      })
    })
}

function daysOption(text: string): number {
  const days = integerOption(text)
  if (days < 1) throw new InvalidArgumentError('give at least one day')
  return days
}

function spanOf(days: number | undefined): number | null {
  return days === undefined ? null : days * DAY_MS
}
