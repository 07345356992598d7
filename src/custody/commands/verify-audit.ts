import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { registryPath, serviceLayout, userSideLayout } from '../domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../domain-keys/registry-file.js'
import { openEvidenceReader } from '../evidence/evidence-log.js'
import { missingEvidence, onChainTransactions } from '../evidence/on-chain.js'
import { type ReadEvidence, readEvidence } from '../evidence/read-evidence.js'
import { type AuditReport, verifyEvidence } from '../evidence/verify-evidence.js'
import { openRegistry } from '../protocol/registry.js'

/** `npm run verify-audit`: holds both evidence logs against each other, offline. */
interface Options {
  readonly home: string
  readonly serviceLog?: string
  readonly userLog?: string
  readonly registry?: string
  readonly root?: string
  readonly transactions?: string
}

const program = new Command('verify-audit')
  .description('Prove from both evidence logs that both keys approved what was signed.')
  .option(
    '--home <directory>',
    'home of the service',
    process.env.COUNTERSIGN_HOME ?? '.countersign',
  )
  .option('--service-log <directory>', "the service's log, when it lies elsewhere")
  .option('--user-log <directory>', "the identity provider's log, when it lies elsewhere")
  .option('--registry <file>', 'the signed registry, when it lies elsewhere')
  .option('--root <file>', "public key of the registry's root, PEM")
  .option(
    '--transactions <file>',
    'JSON list of transactions found on chain: {"raw": "0x…"} or {"from", "chain_id", "nonce"}',
  )
  .action(async (options: Options) => {
    const home = resolve(options.home)
    const root = readRootKey(options.root ?? serviceLayout(home).rootKey)
    const registry = openRegistry(readRegistryFile(options.registry ?? registryPath(home)), root)
    const service = await read('service log', options.serviceLog ?? serviceLayout(home).evidence)
    const user = await read('user side log', options.userLog ?? userSideLayout(home).evidence)
    const report = await verifyEvidence(service, user, registry)
    const missing = await findMissing(options.transactions, report)
    for (const problem of [...report.problems, ...missing]) process.stdout.write(`✗ ${problem}\n`)
    process.stdout.write(
      `${service.entries} and ${user.entries} entries, ${report.wallets} wallets, ` +
        `${report.grants} grant versions, ${report.authorizers} authorizer changes, ${report.approvals} approvals by both keys, ` +
        `${report.unanswered} lost answers\n`,
    )
    if (report.problems.length + missing.length > 0) process.exitCode = 1
    else process.stdout.write('✓ both logs are whole and agree\n')
  })

async function read(name: string, path: string): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  try {
    return readEvidence(name, log.entries())
  } finally {
    await log.close()
  }
}

async function findMissing(path: string | undefined, report: AuditReport): Promise<string[]> {
  if (path === undefined) return []
  const transactions = onChainTransactions.parse(JSON.parse(readFileSync(path, 'utf8')))
  const missing: string[] = []
  for (const transaction of transactions) {
    const reason = await missingEvidence(transaction, report)
    if (reason !== null) missing.push(reason)
  }
  return missing
}

await program.parseAsync()
