import { resolve } from 'node:path'
import type { Command } from 'commander'
import { describeApproval } from '../../custody/approvals/approval-words.js'
import type { ProvenApproval } from '../../custody-tools/audit/approval-replay.js'
import type { KeylessSignature } from '../../custody-tools/audit/keyless-signatures.js'
import { toHex } from '../../quorum-protocol/transaction.js'
import { wireName } from '../approve-call.js'
import { type GlobalOptions, homeOf } from '../connection.js'
import { EXIT } from '../exit-codes.js'
import type { Io } from '../io.js'

/** Proves from both evidence logs that both domains approved what was signed. */
export function register(program: Command, io: Io): void {
  program
    .command('verify-audit')
    .description(
      'prove offline, from both evidence logs, that both domains approved what was signed',
    )
    .option(
      '--service <directories...>',
      "the service's data or log, if not in the home; for a cluster, those of all nodes",
    )
    .option('--identity <directory>', "the identity provider's data or log, if not in the home")
    .option('--registry <file>', 'the signed registry, if not in the home')
    .option('--root <file>', "public key of the registry's root, PEM")
    .option(
      '--transactions <file>',
      'JSON list of transactions found on chain: {"raw": "0x…"} or {"from", "chain_id", "nonce"}',
    )
    .option('--approvals', "list people's approvals of calls that a rule held")
    .option('--rpc <urls...>', 'nodes to check for used nonces without evidence')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<AuditFlags>()
      const { auditHome } = await import('../../custody-tools/maintenance/audit-home.js')
      const { report, serviceEntries, userEntries } = await auditHome({
        home: homeOf(io, options),
        services: options.service?.map((path) => resolve(path)) ?? null,
        identity: pathOf(options.identity),
        registry: pathOf(options.registry),
        root: pathOf(options.root),
      })
      const problems = [...report.problems]
      if (options.transactions !== undefined) {
        const { unexplainedTransactions } = await import(
          '../../custody-tools/maintenance/unexplained-transactions.js'
        )
        problems.push(...(await unexplainedTransactions(resolve(options.transactions), report)))
      }
      let nonces = 0
      for (const url of options.rpc ?? []) {
        const { unexplainedNonces } = await import('../../custody-tools/audit/on-chain-nonces.js')
        const found = await unexplainedNonces(url, report)
        nonces += found.nonces
        problems.push(...found.problems)
      }
      const summary = {
        service_entries: serviceEntries,
        identity_entries: userEntries,
        wallets: report.wallets,
        grant_versions: report.grants,
        authorizer_changes: report.authorizers,
        approvals: report.approvals,
        approved_by_people: report.approvedByPeople.length,
        lost_answers: report.unanswered,
        without_key: report.keyless.map(keylessOf),
        ...(options.approvals === true ? { people: report.approvedByPeople.map(personOf) } : {}),
        ...(options.rpc === undefined ? {} : { on_chain_nonces: nonces }),
        problems,
      }
      io.out(options.json === true ? `${JSON.stringify(summary, null, 2)}\n` : textOf(summary))
      if (problems.length > 0) process.exitCode = EXIT.failed
    })
}

interface AuditFlags extends GlobalOptions {
  readonly service?: readonly string[]
  readonly identity?: string
  readonly registry?: string
  readonly root?: string
  readonly transactions?: string
  readonly approvals?: boolean
  readonly rpc?: readonly string[]
}

function pathOf(option: string | undefined): string | null {
  return option === undefined ? null : resolve(option)
}

interface Summary {
  readonly service_entries: number
  readonly identity_entries: number
  readonly wallets: number
  readonly grant_versions: number
  readonly authorizer_changes: number
  readonly approvals: number
  readonly approved_by_people: number
  readonly lost_answers: number
  readonly without_key: readonly Keyless[]
  readonly people?: readonly Person[]
  readonly on_chain_nonces?: number
  readonly problems: readonly string[]
}

/** A signature without an API key's request. */
interface Keyless {
  readonly at: string
  readonly address: string
  readonly chain_id: number
  readonly nonce: number
  readonly what: KeylessSignature['what']
}

function keylessOf({ atMs, address, chainId, nonce, what }: KeylessSignature): Keyless {
  const at = new Date(atMs).toISOString()
  return { at, address: toHex(address), chain_id: chainId, nonce, what }
}

function keylessLine({ at, address, chain_id, nonce, what }: Keyless): string {
  return `  ${at} without a key: ${what} of ${address} at nonce ${nonce} on chain ${chain_id}\n`
}

interface Person {
  readonly approved_by: string
  readonly at: string
  /** The call as it is signed: name and value of each line. */
  readonly call: Readonly<Record<string, string>>
}

function personOf({ term, by, atMs }: ProvenApproval): Person {
  const lines = describeApproval(term).map(([name, value]) => [wireName(name), value])
  return {
    approved_by: by,
    at: new Date(atMs).toISOString(),
    call: Object.fromEntries(lines),
  }
}

function linesOf({ approved_by, at, call }: Person): string {
  const said = Object.entries(call).map(([name, value]) => `${name} ${value}`)
  return `  ${at} ${approved_by}: ${said.join(', ')}\n`
}

function textOf(summary: Summary): string {
  const onChain =
    summary.on_chain_nonces === undefined ? '' : `, ${summary.on_chain_nonces} nonces on chain`
  const counted =
    `${summary.service_entries} and ${summary.identity_entries} entries, ` +
    `${summary.wallets} wallets, ${summary.grant_versions} grant versions, ` +
    `${summary.authorizer_changes} authorizer changes, ` +
    `${summary.approvals} approvals by both keys, ${summary.approved_by_people} by people, ` +
    `${summary.without_key.length} without a key, ${summary.lost_answers} lost answers${onChain}\n`
  const people = (summary.people ?? []).map(linesOf).join('')
  const problems = summary.problems.map((problem) => `✗ ${problem}\n`).join('')
  const keyless = summary.without_key.map(keylessLine).join('')
  return `${people}${keyless}${problems}${counted}${problems === '' ? '✓ both logs are whole and agree\n' : ''}`
}
