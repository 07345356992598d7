import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'
import { type ShareHolderName, shareHolderOption } from './domain-option.js'

interface DomainOptions extends GlobalOptions {
  readonly domain: ShareHolderName
}

export function registerBackups(custody: Command, io: Io): void {
  custody
    .command('backup')
    .description("copy one domain's shares, ledger and evidence while it runs")
    .addOption(shareHolderOption())
    .requiredOption('--to <directory>', 'a directory that does not exist yet')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions & { to: string }>()
      const { backUpDomain } = await import('../../../custody-tools/maintenance/backup-domain.js')
      const to = resolve(options.to)
      await backUpDomain(homeOf(io, options), options.domain, to)
      printRecord(io, options, { domain: options.domain, backup: to })
      io.err('The wrapping key is not in it: keep a copy of that, and of the token, elsewhere.\n')
    })
  custody
    .command('restore')
    .description("put a backup in the place of a stopped domain's stores, once it is checked")
    .addOption(shareHolderOption())
    .requiredOption('--from <directory>', 'what custody backup wrote')
    .option('--wrapping-key <file>', 'the wrapping key of that time, when it was rotated since')
    .option('--older-epochs', 'take shares from before a refresh: the other domain goes back too')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<RestoreFlags>()
      const { restoreDomain } = await import('../../../custody-tools/maintenance/restore-domain.js')
      const wallets = await restoreDomain({
        home: homeOf(io, options),
        domain: options.domain,
        from: resolve(options.from),
        olderEpochs: options.olderEpochs === true ? 'accept' : 'refuse',
        wrappingKeyPath: options.wrappingKey === undefined ? null : resolve(options.wrappingKey),
      })
      printRecord(io, options, { domain: options.domain, wallets })
      if (options.domain === 'user') {
        io.err('It has forgotten approvals: run custody fence; it does not start before.\n')
      }
    })
  custody
    .command('fence')
    .description('teach a restored user side what it approved and took back since its backup')
    .requiredOption(
      '--service-log <directories...>',
      "the service's evidence, or a backup of it; of a cluster, of each node that owned the journal since",
    )
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { serviceLog: readonly string[] }>()
      const { fenceUserSide } = await import(
        '../../../custody-tools/maintenance/fence-user-side.js'
      )
      const logs = options.serviceLog.map((log) => resolve(log))
      const fenced = await fenceUserSide(homeOf(io, options), logs)
      printRecord(io, options, { ...fenced })
    })
  custody
    .command('check')
    .description('open every share of a domain and hold it against its certificate')
    .addOption(shareHolderOption())
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<DomainOptions>()
      const { checkDomain } = await import('../../../custody-tools/maintenance/check-domain.js')
      const wallets = await checkDomain(homeOf(io, options), options.domain)
      printRecord(io, options, { domain: options.domain, wallets })
    })
}

interface RestoreFlags extends DomainOptions {
  readonly from: string
  readonly wrappingKey?: string
  readonly olderEpochs?: boolean
}
