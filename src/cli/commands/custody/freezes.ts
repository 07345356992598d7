import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { EXIT, UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'
import { type ShareHolderName, shareHolderOption } from './domain-option.js'

interface DomainOptions extends GlobalOptions {
  readonly domain: ShareHolderName
}

const FREEZE_HELP = `
For a wallet service with a journal, run this in the leader's home (see countersign cluster status). Once the
leader's log says that the journal has the freeze, it also applies to the next leader. If the leader does not
answer, run this in every node's home: then no node signs, whichever takes over.`

const UNFREEZE_HELP = `
For a wallet service with a journal, run this in the leader's home while its service runs, which then also
removes the freeze from the journal. If a later start restores the freeze from the journal, run this again. A home
with its own service/frozen.json stays frozen when it takes over: run this there, too.`

/** Commands for the operator's freeze of all users, run on each domain's host. */
export function registerFreezes(custody: Command, io: Io): void {
  custody
    .command('freeze')
    .description('stop new signatures for all users, within a second and across restarts')
    .addOption(shareHolderOption())
    .option('--reason <text>', 'shown with each refusal')
    .addHelpText('after', FREEZE_HELP)
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions & { reason?: string }>()
      const { freezeInstance } = await import('../../../custody/instance-freeze.js')
      const path = await freezePath(io, options)
      const { sinceMs, reason } = freezeInstance(path, options.reason ?? null, Date.now())
      const since = new Date(sinceMs).toISOString()
      await tellWhereNot(io, options, true)
      printRecord(io, options, { domain: options.domain, frozen: true, since, reason })
      io.err('The other domain has its own freeze: run this on its host, too.\n')
    })
  custody
    .command('unfreeze')
    .description('lift the freeze of one domain')
    .addOption(shareHolderOption())
    .addHelpText('after', UNFREEZE_HELP)
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions>()
      const { unfreezeInstance } = await import('../../../custody/instance-freeze.js')
      unfreezeInstance(await freezePath(io, options))
      await tellWhereNot(io, options, false)
      printRecord(io, options, { domain: options.domain, frozen: false })
    })
}

/** Warns when the identity provider is stopped or a standby, because it does not pass the freeze on. */
async function tellWhereNot(io: Io, options: DomainOptions, isFrozen: boolean): Promise<void> {
  if (options.domain !== 'user') return
  const { isFreezeCarried } = await import('../../../identity-provider/journal/carry-freeze.js')
  if ((await isFreezeCarried(homeOf(io, options), isFrozen)) !== false) return
  process.exitCode = EXIT.failed
  io.err(
    "Done in this home only. The identity provider here is stopped, a standby, or disconnected, so the journal does NOT know. Run this in the leader's home too (see countersign cluster status --domain user), or another node acts as before.\n",
  )
}

/** @throws UsageError when the domain is not in this home: a false confirmation would end the search */
async function freezePath(io: Io, options: DomainOptions): Promise<string> {
  const { instanceFreezePath } = await import('../../../custody/instance-freeze.js')
  const path = instanceFreezePath(homeOf(io, options), options.domain)
  if (existsSync(dirname(path))) return path
  throw new UsageError(
    `${dirname(path)} does not exist, or this user cannot see it: nothing was changed. Pass the domain's home with --home, and run this as its user`,
  )
}
