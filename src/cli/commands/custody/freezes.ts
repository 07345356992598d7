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
A wallet service with a journal: say this at the home of the journal's owner (countersign cluster status). The
freeze goes with the journal to whoever takes it over, once the owner's log says that the journal has it. Where
the owner does not answer, say this at the home of each node: none signs then, whichever takes over.`

const UNFREEZE_HELP = `
A wallet service with a journal: say this at the home of the journal's owner while its service runs, which
takes it out of the journal as well; after a start on a freeze that the journal still has, say it again. Another
home with a service/frozen.json of its own stays frozen when it takes over: say this there, too.`

/** The operator's freeze of all users at once, at each domain's own host. */
export function registerFreezes(custody: Command, io: Io): void {
  custody
    .command('freeze')
    .description('sign nothing new for anybody, within a second and across restarts')
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
      io.err('The other domain has a freeze of its own: run this at its host, too.\n')
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

/** An identity provider that does not run, or waits, tells nobody else of it. */
async function tellWhereNot(io: Io, options: DomainOptions, isFrozen: boolean): Promise<void> {
  if (options.domain !== 'user') return
  const { isFreezeCarried } = await import('../../../identity-provider/journal/carry-freeze.js')
  if ((await isFreezeCarried(homeOf(io, options), isFrozen)) !== false) return
  process.exitCode = EXIT.failed
  io.err(
    'Done at this home, and NOT known to the journal: the identity provider here does not run, waits, or is cut off from it. Another home may sign, or take over as it was: say this at the home of the owner, too (countersign cluster status --domain user).\n',
  )
}

/** @throws UsageError where there is no such domain: whoever is told that it is frozen looks no further */
async function freezePath(io: Io, options: DomainOptions): Promise<string> {
  const { instanceFreezePath } = await import('../../../custody/instance-freeze.js')
  const path = instanceFreezePath(homeOf(io, options), options.domain)
  if (existsSync(dirname(path))) return path
  throw new UsageError(
    `${dirname(path)} is not there, or not for this user to see: nothing was changed. Say --home with the home of the domain, and run this as its user`,
  )
}
