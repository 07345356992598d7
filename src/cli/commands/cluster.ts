import { join } from 'node:path'
import type { Command } from 'commander'
import { readJournalFile } from '../../config/journal.js'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { bringFreeze } from '../../custody/instance-freeze.js'
import { writeJournalPermit } from '../../disk/journal-permit.js'
import { positionIn } from '../../identity-provider/journal/stores.js'
import { JournalUnavailable } from '../../journal/journal.js'
import { carriedFreezeOf } from '../../store/carried-freeze.js'
import { openBesideService } from '../../store/environment.js'
import { leaveJournal } from '../../store/journal-position.js'
import { createReader } from '../../store/reader.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { journalPositionIn } from '../operator/journal-position-in.js'
import { snapshotOfHome } from '../operator/snapshot-of-home.js'
import { journalFileOf, withJournal } from '../operator/with-journal.js'
import { printRecord } from '../print.js'
import { registerAddNode } from './cluster/add-node.js'
import { type DomainOptions, journaledDomainOption } from './cluster/domain-option.js'
import { registerDrain } from './cluster/drain.js'
import { registerImport } from './cluster/import.js'
import { registerMove } from './cluster/move.js'
import { isTakenFrom, leaveUserSide, userSideStatus } from './cluster/user-side.js'

const NAMES = { service: 'service', user: 'identity provider' } as const

/** Commands about the leadership of a home's journal. */
export function register(program: Command, io: Io): void {
  const cluster = program
    .command('cluster')
    .description('the journal that several machines share (COUNTERSIGN_JOURNAL_FILE)')
  cluster
    .command('status')
    .description("the journal's leader, and how far this home's store has followed")
    .addOption(journaledDomainOption())
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & DomainOptions>()
      if (options.domain === 'user') {
        const head = await unlessAway(
          io,
          withJournal(io, 'user', (journal, { number }) => journal.readHead(number)),
        )
        printRecord(io, options, await userSideStatus(homeOf(io, options), head))
        return
      }
      const found = await unlessAway(
        io,
        withJournal(io, 'service', async (journal, { number }) => ({
          cell: number,
          head: await journal.readHead(number),
          kept: (await journal.snapshots?.readHead(number)) ?? null,
        })),
      )
      const { cell = null, head = null, kept = null } = found ?? {}
      const newest = kept?.newest ?? null
      const store = await journalPositionIn(homeOf(io, options))
      printRecord(io, options, {
        cell,
        epoch: head?.epoch ?? null,
        owner: head?.owner?.node ?? null,
        entries: head?.seq ?? null,
        first_entry: head?.first ?? null,
        entries_kept: head === null ? null : head.seq - head.first + 1,
        engine_bytes: kept?.engineBytes ?? null,
        snapshot_entry: newest?.seq ?? null,
        snapshot_at: newest === null ? null : new Date(newest.atMs).toISOString(),
        snapshot_bytes: newest?.bytes ?? null,
        tail_bytes: kept?.tailBytes ?? null,
        store_entry: store?.seq ?? null,
        store_epoch: store?.epoch ?? null,
        // Null for a store that never led: nothing could have been taken from it.
        taken_over: head === null ? null : isTakenFrom(store, head),
      })
    })
  cluster
    .command('snapshot')
    .description("put a snapshot of this home's store into the journal now, and trim the journal")
    .addHelpText(
      'after',
      `
The leader makes snapshots by itself as entries accumulate. The service may run or be stopped; the journal
accepts no snapshot from a home that is no longer the leader.`,
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const made = await withJournal(io, 'service', (journal, { number }) =>
        snapshotOfHome(homeOf(io, options), journal, number),
      )
      printRecord(io, options, {
        snapshot_entry: made.seq,
        snapshot_rows: made.rows,
        snapshot_bytes: made.bytes,
        first_entry: made.first,
      })
    })
  cluster
    .command('take')
    .description(
      'let the next start on this home acquire leadership, which ends the present leader',
    )
    .addOption(journaledDomainOption())
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
After another service has taken over, this one no longer starts, so that the two do not end each other in
turn. Run this when the other one is gone for good, or should end.`,
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & DomainOptions & { yes?: boolean }>()
      const { domain } = options
      const home = homeOf(io, options)
      const { epoch, owner } = await withJournal(io, domain, (journal, { number }) =>
        journal.readHead(number),
      )
      if (epoch === 0)
        throw new UsageError(
          'the journal has no leader: start the service, which acquires leadership',
        )
      const question = `End the ${NAMES[domain]} at ${owner?.node ?? 'an unknown place'}, which leads the journal with epoch ${epoch}, at the next start here? [y/N] `
      if (options.yes !== true && (await io.confirm?.(question)) !== true) {
        process.exitCode = EXIT.usage
        io.err('Nothing was done.\n')
        return
      }
      writeJournalPermit(home, domain, epoch)
      printRecord(io, options, { takes_from: epoch, owner: owner?.node ?? null })
    })
  registerMove(cluster, io)
  registerDrain(cluster, io)
  registerImport(cluster, io)
  registerAddNode(cluster, io)
  cluster
    .command('handler')
    .description("serve this machine's Restate node for the journal in it, until stopped")
    .addHelpText(
      'after',
      `
Run one beside each Restate node, apart from the service: nodes that acquire leadership or read the
journal need its answers even when this machine's service is down.`,
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { restate } = readJournalFile(journalFileOf(io, 'service'))
      if (restate === undefined) throw new UsageError('the journal is not in Restate')
      const { host, port, identity_keys: identityKeys } = restate.handler
      const key = Buffer.from(restate.key, 'hex')
      const { serveRestateEndpoint } = await import('../../journal/restate-endpoint.js')
      const log = { warn: (context: object, message: string) => io.err(lineOf(context, message)) }
      const endpoint = await serveRestateEndpoint({ host, port, key, identityKeys, log })
      printRecord(io, options, { listens_on: host, port: endpoint.port })
      await new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
      })
      await endpoint.close()
    })
  cluster
    .command('leave')
    .description("detach this home's store from its journal for good; stop the service first")
    .addOption(journaledDomainOption())
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
From then on nothing is written to a journal. Stop its standbys first: one of them would take over and run in
parallel. To begin another journal, name an empty database.`,
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & DomainOptions & { yes?: boolean }>()
      const { domain } = options
      const home = homeOf(io, options)
      const position = await (domain === 'user' ? positionIn(home) : journalPositionIn(home))
      if (position === null) throw new UsageError(`the ${NAMES[domain]} of ${home} has no journal`)
      const question = 'Detach from the journal for good? Stop its standbys first. [y/N] '
      if (options.yes !== true && (await io.confirm?.(question)) !== true) {
        process.exitCode = EXIT.usage
        io.err('Nothing was done.\n')
        return
      }
      await (domain === 'user' ? leaveUserSide(home, io) : leaveIn(home, io))
      printRecord(io, options, { left_at_entry: position.seq })
    })
}

function leaveIn(home: string, io: Io): Promise<boolean> {
  return holding(
    () => lockStopped(home, 'service', 'cluster leave'),
    async () => {
      const environment = openBesideService(join(home, 'service', 'store'))
      try {
        const { freezes } = createReader(environment)
        const log = { warn: (_context: object, message: string) => io.err(`${message}\n`) }
        // From now on only the file records the freeze.
        bringFreeze(home, 'service', carriedFreezeOf(freezes), Date.now(), log)
        return await leaveJournal(environment)
      } finally {
        await environment.root.close()
      }
    },
  )
}

function lineOf(context: object, message: string): string {
  return `${message} ${JSON.stringify(context)}\n`
}

/** Lets `cluster status` describe this home even when its journal is lost; then it prints a notice and returns null. */
async function unlessAway<T>(io: Io, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    io.err('The journal does not answer: the following describes only this home.\n')
    return null
  }
}
