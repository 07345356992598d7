import { resolve } from 'node:path'
import type { Command } from 'commander'
import { IDENTITY_LINK_VARIABLE, identityLinkAt } from '../../../config/identity-link.js'
import { ulidBytes } from '../../../domain/ids.js'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { withSharesInJournal } from '../../operator/shares-in-journal.js'
import { integerOption } from '../../options.js'
import { printRecord } from '../../print.js'
import { type ShareHolderName, shareHolderOption } from './domain-option.js'

/** Enough time to give Routers on every chain the new key. */
const OVERLAP_MINUTES = 10
/**
 * The overlap begins when the draft is written, and the root may be in a safe. Signatures by an
 * expired key do not verify: if the registry came later, verify-audit would report everything
 * signed since.
 */
const DRAFT_OVERLAP_MINUTES = 7 * 24 * 60

export function registerRotations(custody: Command, io: Io): void {
  custody
    .command('rotate-cosigner')
    .description(
      'give this home’s service a new co-signer key; the present one stays valid for the overlap',
    )
    .option('--root <file>', "the registry root's private key, to sign and install at once")
    .option('--draft <file>', 'write a draft for custody sign-registry instead')
    .option(
      '--overlap-minutes <minutes>',
      `how long both stay valid from now on (default: ${OVERLAP_MINUTES}, with --draft 7 days: install the registry by then)`,
      integerOption,
    )
    .option('--emergency', 'the present key ends at once')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<RotateFlags>()
      const { rotateCoSigner } = await import(
        '../../../custody-tools/maintenance/rotate-co-signer.js'
      )
      const rotated = await rotateCoSigner(homeOf(io, options), {
        overlapMs: overlapMinutesOf(options) * 60_000,
        root: rootOf(options),
      })
      const { others, ...made } = rotated
      printRecord(io, options, { ...made, others: others.join(' ') })
      io.err(
        'Routers verify this key on chain: after installing the registry, run countersign contracts rotate-cosigner with the Routers’ owner key. If the old key stays valid for more than ten minutes, run it again afterwards to remove it.\n',
      )
      io.err(
        'Only this home has the new key. Other homes’ keys stay valid (others): to end a stolen one, run custody draft-registry --end. Install the registry in every node’s home (custody install-registry).\n',
      )
    })
  custody
    .command('rotate-wrapping-keys')
    .description("wrap one domain's data keys under a new wrapping key, while it runs")
    .addOption(shareHolderOption())
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { domain: ShareHolderName }>()
      const { rotateWrappingKey } = await import(
        '../../../custody-tools/maintenance/rotate-wrapping-key.js'
      )
      const dataKeys = await rotateWrappingKey(homeOf(io, options), options.domain)
      printRecord(io, options, { domain: options.domain, data_keys: dataKeys })
      io.err(
        'Earlier backups need the earlier wrapping key: keep it for custody restore --wrapping-key.\n',
      )
    })
  custody
    .command('refresh-shares')
    .description('replace the shares of wallets in both domains; keys and addresses stay')
    .argument('[wallets...]', 'sub-wallet ids (default: every wallet)')
    .action(async (wallets: readonly string[], _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { refreshShares } = await import('../../../custody-tools/maintenance/refresh-shares.js')
      const { pino } = await import('pino')
      const home = homeOf(io, options)
      const linkFile = io.env[IDENTITY_LINK_VARIABLE]
      const count = await withSharesInJournal(io, home, (journal) =>
        refreshShares({
          ...{ home, journal },
          ...(linkFile ? { userSide: identityLinkAt(linkFile) } : {}),
          walletIds: wallets.length === 0 ? null : wallets.map((id) => ulidBytes(id)),
          log: pino({ level: 'silent' }),
          unfit: (wallet, { message }) => io.err(`${wallet} in the journal: ${message}\n`),
          refreshed: (walletId, epoch) =>
            io.err(`${Buffer.from(walletId).toString('hex')} is at epoch ${epoch}\n`),
        }),
      )
      printRecord(io, options, { refreshed: count })
      io.err('Back up both domains again: shares in older backups are now useless.\n')
    })
}

interface RotateFlags extends GlobalOptions {
  readonly root?: string
  readonly draft?: string
  readonly overlapMinutes?: number
  readonly emergency?: boolean
}

function overlapMinutesOf({ emergency, overlapMinutes, draft }: RotateFlags): number {
  if (emergency === true) return 0
  return overlapMinutes ?? (draft === undefined ? OVERLAP_MINUTES : DRAFT_OVERLAP_MINUTES)
}

function rootOf({ root, draft }: RotateFlags) {
  if (root !== undefined && draft === undefined) {
    return { kind: 'sign' as const, privateKeyPath: resolve(root) }
  }
  if (draft !== undefined && root === undefined) {
    return { kind: 'draft' as const, path: resolve(draft) }
  }
  throw new UsageError('pass --root to sign here, or --draft to sign on another machine')
}
