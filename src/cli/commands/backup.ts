import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ID_PREFIX, isId, type KeyId } from '../../domain/ids.js'
import { formatUsd, parseUsd, type UsdMicros } from '../../domain/money.js'
import { PARTS, type PartName } from '../backup/parts.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'

const CREATE_HELP = `
Runs while the instance does. Each user on the machine backs up what is its own, so three domains of
three users are three backups; one user with all of it makes one.

In the backup: the service's store and lists, accounts of the login, shares, ledgers and evidence of
both sides, the registry and chains.json. Sealed as they are at rest: shares, secrets of webhooks,
proof keys. In clear: names, addresses, amounts, policies, hashes of passwords and API keys.
Left out unless --with-keys says otherwise: private keys that lie in files (keys/*.pem, a wrapping key
that no token seals, the login's keys). Keep those elsewhere: without them a backup opens no share.
Never in it: environment files, the registry root of a live instance, the state of chains.`

interface CreateFlags extends GlobalOptions {
  readonly to: string
  readonly part?: readonly PartName[]
  readonly withKeys?: boolean
}

const RESTORE_HELP = `
Into a home without stores, each part as its own user and with its process stopped. What a restored
instance has forgotten is fenced, so that no cap, nonce, key or event counts twice:

  one domain lost    give the other one's evidence, which knows what came after the backup:
                       of the service     --user-log <home>/identity-provider/vault
                       of the user side   --service-log <home>/service/custody
                                          of a cluster: of each node that owned the journal since
                     Without --user-log every key's caps of the day and month count as used up;
                     without --service-log the user side does not start before custody fence.
  all of it lost     say --nothing-outlived: caps count as used up, and both domains stay frozen
                     until you have revoked again what was revoked since the backup, and say
                     countersign custody unfreeze --domain service, and user.

Transactions of after the backup are not listed any more and must not be asked for again blindly;
wallets and keys made since are gone. Everybody signs in again, and passwords are those of then.
countersign backup reconcile puts a key's spend right, once you know it.`

interface RestoreFlags extends GlobalOptions {
  readonly from: string
  readonly part?: readonly PartName[]
  readonly serviceLog?: readonly string[]
  readonly userLog?: string
  readonly nothingOutlived?: boolean
}

/** A whole instance, or what of it is on this machine. */
export function register(program: Command, io: Io): void {
  const backup = program.command('backup').description('copy, check and restore a whole instance')
  const progress = (sentence: string) => io.err(`${sentence}\n`)
  backup
    .command('create')
    .description('copy all of an instance that is on this machine and this user’s, while it runs')
    .requiredOption('--to <directory>', 'a directory that does not exist yet')
    .addOption(partOption('only these (default: all that are here)'))
    .option('--with-keys', 'private keys that lie in files, too: the backup then opens everything')
    .addHelpText('after', CREATE_HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<CreateFlags>()
      const { createBackup } = await import('../backup/create-backup.js')
      const to = resolve(options.to)
      const manifest = await createBackup({
        home: homeOf(io, options),
        to,
        parts: options.part ?? null,
        keys: options.withKeys === true ? 'in-clear' : 'left-out',
        progress,
      })
      const leftOut = manifest.parts.flatMap(({ keys_left_out }) => keys_left_out)
      printRecord(io, options, {
        backup: to,
        made_at: manifest.made_at,
        parts: manifest.parts.map(({ name }) => name),
        files: manifest.files.length,
        bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
        keys_left_out: leftOut,
      })
      io.err(
        options.withKeys === true
          ? 'Private keys are in it, in clear: whoever has it can sign. Encrypt it before it leaves this machine.\n'
          : leftOut.length > 0
            ? 'Private keys are not in it: keep copies of them elsewhere, or a restore opens nothing.\n'
            : '',
      )
    })
  backup
    .command('verify')
    .description('hold a backup against its manifest, and read every record of it')
    .argument('<directory>')
    .action(async (given: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { verifyBackup } = await import('../backup/verify-backup.js')
      const { manifest, files, problems } = await verifyBackup(resolve(given), progress)
      const all = [
        ...problems,
        ...files.flatMap((file) => file.problems.map((problem) => `${file.path} ${problem}`)),
      ]
      const value = {
        sound: all.length === 0,
        made_at: manifest.made_at,
        version: manifest.version,
        schema_version: manifest.schema_version,
        parts: manifest.parts,
        files,
        problems: all,
      }
      const rows = files.map((file) => ({ ...file }))
      printRows(io, options, value, rows, ['part', 'path', 'bytes', 'records'])
      for (const problem of all) io.err(`✗ ${problem}\n`)
      if (all.length > 0) process.exitCode = EXIT.failed
    })
  backup
    .command('restore')
    .description('put a backup into an empty home, fenced against what it has forgotten')
    .requiredOption('--from <directory>', 'what backup create wrote')
    .addOption(partOption('only these (default: all that the backup has)'))
    .option('--user-log <directory>', "the identity provider's evidence, which outlived")
    .option(
      '--service-log <directories...>',
      "the service's evidence, which outlived; of each node that owned the journal since",
    )
    .option('--nothing-outlived', 'no log of after the backup is left: both domains stay frozen')
    .addHelpText('after', RESTORE_HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<RestoreFlags>()
      const { userLog, serviceLog, nothingOutlived } = options
      if (nothingOutlived === true && (userLog ?? serviceLog) !== undefined) {
        throw new UsageError('give a log that outlived, or --nothing-outlived')
      }
      const { restoreBackup } = await import('../backup/restore-backup.js')
      const parts = await restoreBackup({
        home: homeOf(io, options),
        from: resolve(options.from),
        parts: options.part ?? null,
        userLog: userLog === undefined ? null : resolve(userLog),
        serviceLogs: (serviceLog ?? []).map((log) => resolve(log)),
        lost: nothingOutlived === true ? 'all' : 'one-domain',
        progress,
      })
      const rows = parts.map((part) => ({ ...part }))
      printRows(io, options, { parts }, rows, ['part', 'files', 'wallets', 'fenced', 'frozen'])
      io.err('Make a new backup once it runs: this one knows less than it does from now on.\n')
      for (const { part, kept, frozen, unfenced } of parts) {
        if (kept.length > 0)
          io.err(`left as they were, and other than the backup's: ${kept.join(', ')}\n`)
        if (unfenced)
          io.err(
            `${part}: run custody fence, or, where it has a journal, start it with that; it does not start before\n`,
          )
        if (frozen)
          io.err(`${part}: frozen; countersign custody unfreeze --domain ${part} lifts it\n`)
      }
    })
  backup
    .command('reconcile')
    .description('put a key’s spend right after a restore; the service is stopped')
    .argument('<key_id>', 'it counts for the keys that it was rotated from, too')
    .requiredOption('--day-used <usd>', 'spent today (UTC), without what is reserved', usdOption)
    .requiredOption('--month-used <usd>', 'spent this month (UTC)', usdOption)
    .action(async (keyId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<ReconcileFlags>()
      if (!isId(ID_PREFIX.key, keyId)) throw new UsageError(`${keyId} is not the id of a key`)
      const { reconcileSpend } = await import('../backup/reconcile-spend.js')
      const { lineageId, before, after } = await reconcileSpend(
        homeOf(io, options),
        keyId as KeyId,
        { dayMicros: options.dayUsed, monthMicros: options.monthUsed },
      )
      printRecord(io, options, {
        ...{ key_id: keyId, lineage_id: lineageId },
        ...{ day_used_before: formatUsd(before.dayMicros), day_used: formatUsd(after.dayMicros) },
        month_used_before: formatUsd(before.monthMicros),
        month_used: formatUsd(after.monthMicros),
      })
    })
}

interface ReconcileFlags extends GlobalOptions {
  readonly dayUsed: UsdMicros
  readonly monthUsed: UsdMicros
}

function usdOption(text: string): UsdMicros {
  const micros = parseUsd(text)
  if (micros === null) throw new InvalidArgumentError('an amount such as 12.50 is due')
  return micros
}

function partOption(description: string): Option {
  return new Option('--part <names...>', description).choices(PARTS)
}
