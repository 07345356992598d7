import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { GlobalOptions } from '../../connection.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'

interface ApproveFlags extends GlobalOptions {
  readonly root: string
  readonly request: string
  readonly user: string
  readonly out: string
}

/** The operator's part when a user has lost every authorizer. */
export function registerRecovery(custody: Command, io: Io): void {
  custody
    .command('approve-authorizer')
    .description(
      'sign the new key of a user who lost every authorizer, on the offline machine with the root',
    )
    .requiredOption('--root <file>', "the registry root's private key")
    .requiredOption('--request <file>', 'file by countersign authorizer recover')
    .requiredOption('--user <user_id>', 'the user, identified by other means')
    .requiredOption('--out <file>', 'file for the approved request, to send to the user')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<ApproveFlags>()
      const { approveAuthorizer } = await import(
        '../../../custody-tools/provisioning/approve-authorizer.js'
      )
      const outPath = resolve(options.out)
      const { userId, authorizerId, label, createdAtMs } = await approveAuthorizer({
        rootPath: resolve(options.root),
        requestPath: resolve(options.request),
        outPath,
        userId: options.user,
      })
      printRecord(io, options, {
        user_id: userId,
        authorizer_id: authorizerId,
        label,
        asked_at: new Date(createdAtMs).toISOString(),
        approved: outPath,
      })
      io.err(
        'Compare the authorizer id with the one that the user sees. All their older authorizers end.\n',
      )
    })
}
