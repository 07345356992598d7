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
The instance may run. Each user on the machine backs up its own part: three domains with three users need
three backups, and a single user with all domains makes one.

The backup contains the service's store and lists, the login's accounts, both domains' shares, ledgers and
evidence, the registry and chains.json. Shares, webhook secrets and proof keys stay sealed. Names, addresses,
amounts, policies, and hashes of passwords and API keys are in clear.
Without --with-keys it omits private keys in files (keys/*.pem, a wrapping key that no token seals, the
login's keys). Keep copies of those in another place: without them a backup opens no share.
It never contains environment files, the registry root of a live instance, or the state of chains.`

interface CreateFlags extends GlobalOptions {
  readonly to: string
  readonly part?: readonly PartName[]
  readonly withKeys?: boolean
}

const RESTORE_HELP = `
The home must have no stores. Restore each part as its own user, with its process stopped. The command
fences what the backup does not know, so that no cap, nonce, key or event counts twice:

  one domain lost    pass the other domain's evidence, which has everything since the backup:
                       service lost             --user-log <home>/identity-provider/vault
                       identity provider lost   --service-log <home>/service/custody
                                                in a cluster, of every node that has led since
                     Without --user-log every key's daily and monthly caps count as used up;
                     without --service-log the identity provider does not start before custody fence.
  both lost          pass --nothing-outlived: caps count as used up, and both domains stay frozen.
                     Revoke again what was revoked since the backup, then run
                     countersign custody unfreeze --domain service, and --domain user.

Transactions since the backup are no longer listed: check the chain before you send one again. Wallets and
keys made since are gone. Everyone signs in again, with the password of that time.
countersign backup reconcile corrects a key's spend once you know it.`

interface RestoreFlags extends GlobalOptions {
  readonly from: string
  readonly part?: readonly PartName[]
  readonly serviceLog?: readonly string[]
  readonly userLog?: string
  readonly nothingOutlived?: boolean
}

/** Commands for backups of a whole instance, or of its part on this machine. */
export function register(program: Command, io: Io): void {
  const backup = program.command('backup').description('copy, check and restore a whole instance')
  const progress = (sentence: string) => io.err(`${sentence}\n`)
  backup
    .command('create')
    .description(
      'copy the part of an instance on this machine that belongs to this user, while it runs',
    )
    .requiredOption('--to <directory>', 'a directory that does not exist yet')
    .addOption(partOption('only these (default: all on this machine)'))
    .option('--with-keys', 'include private keys in files: the backup then opens everything')
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
          ? 'It contains private keys in clear: a thief of the backup can sign. Encrypt it before it leaves this machine.\n'
          : leftOut.length > 0
            ? 'It contains no private keys: keep copies of them in another place, or a restore opens nothing.\n'
            : '',
      )
    })
  backup
    .command('verify')
    .description('check a backup against its manifest, and read every record of it')
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
    .description('restore a backup into an empty home, and fence what it does not know')
    .requiredOption('--from <directory>', 'a directory that backup create wrote')
    .addOption(partOption('only these (default: all in the backup)'))
    .option('--user-log <directory>', "the identity provider's evidence, which survived")
    .option(
      '--service-log <directories...>',
      "the service's evidence, which survived; of each node that has led since",
    )
    .option('--nothing-outlived', 'no log from after the backup survived: both domains stay frozen')
    .addHelpText('after', RESTORE_HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<RestoreFlags>()
      const { userLog, serviceLog, nothingOutlived } = options
      if (nothingOutlived === true && (userLog ?? serviceLog) !== undefined) {
        throw new UsageError('pass a log that survived, or --nothing-outlived')
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
      io.err('Make a new backup once it runs: this one is outdated from now on.\n')
      for (const { part, kept, frozen, unfenced } of parts) {
        if (kept.length > 0)
          io.err(`kept, although they differ from the backup's: ${kept.join(', ')}\n`)
        if (unfenced)
          io.err(
            `${part}: it does not start yet: run custody fence, or, if it has a journal, start it with that\n`,
          )
        if (frozen)
          io.err(`${part}: frozen; lift it with countersign custody unfreeze --domain ${part}\n`)
      }
    })
  backup
    .command('reconcile')
    .description('correct a key’s spend after a restore; stop the service first')
    .argument('<key_id>', 'also covers the keys that it was rotated from')
    .requiredOption('--day-used <usd>', 'spent today (UTC), without reservations', usdOption)
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
  if (micros === null) throw new InvalidArgumentError('give an amount such as 12.50')
  return micros
}

function partOption(description: string): Option {
  return new Option('--part <names...>', description).choices(PARTS)
}
