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
      io.err(
        'It does not contain the wrapping key: keep a copy of that, or of the token, in another place.\n',
      )
    })
  custody
    .command('restore')
    .description("check a backup, then replace a stopped domain's stores with it")
    .addOption(shareHolderOption())
    .requiredOption('--from <directory>', 'a directory that custody backup wrote')
    .option('--wrapping-key <file>', 'the wrapping key of that time, if it was rotated since')
    .option(
      '--older-epochs',
      'accept shares from before a refresh: the other domain is restored too',
    )
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
        io.err(
          'The backup lacks later approvals, so the domain does not start yet: run custody fence.\n',
        )
      }
    })
  custody
    .command('fence')
    .description(
      'add to a restored identity provider what it approved and revoked since its backup',
    )
    .requiredOption(
      '--service-log <directories...>',
      "the service's evidence, or a backup of it; in a cluster, of every node that has led since",
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
    .description('open every share of a domain and check it against its certificate')
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
