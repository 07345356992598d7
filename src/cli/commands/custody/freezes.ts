import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'
import { type ShareHolderName, shareHolderOption } from './domain-option.js'

interface DomainOptions extends GlobalOptions {
  readonly domain: ShareHolderName
}

/** The operator's freeze of all users at once, at each domain's own host. */
export function registerFreezes(custody: Command, io: Io): void {
  custody
    .command('freeze')
    .description('sign nothing new for anybody, within a second and across restarts')
    .addOption(shareHolderOption())
    .option('--reason <text>', 'shown with each refusal')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions & { reason?: string }>()
      const { freezeInstance, instanceFreezePath } = await import(
        '../../../custody/instance-freeze.js'
      )
      const path = instanceFreezePath(homeOf(io, options), options.domain)
      const { sinceMs, reason } = freezeInstance(path, options.reason ?? null, Date.now())
      const since = new Date(sinceMs).toISOString()
      printRecord(io, options, { domain: options.domain, frozen: true, since, reason })
      io.err('The other domain has a freeze of its own: run this at its host, too.\n')
    })
  custody
    .command('unfreeze')
    .description('lift the freeze of one domain')
    .addOption(shareHolderOption())
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions>()
      const { instanceFreezePath, unfreezeInstance } = await import(
        '../../../custody/instance-freeze.js'
      )
      unfreezeInstance(instanceFreezePath(homeOf(io, options), options.domain))
      printRecord(io, options, { domain: options.domain, frozen: false })
    })
}
