import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { checkShares } from '../domain-keys/check-shares.js'
import { type DomainLayout, serviceLayout, userSideLayout } from '../domain-keys/layout.js'
import { openShareStore } from '../domain-keys/share-store.js'
import { openKeyStore } from '../key-stores/open-key-store.js'
import { readWrappingKeys } from '../key-stores/wrapping-key.js'

/**
 * `npm run custody:restore`: puts a backup in the place of one domain's stores. The domain must be
 * stopped. What was there is set aside, not removed. A restored user side has forgotten what it
 * approved since: `npm run custody:fence` must follow, and the service refuses to work with it
 * before.
 */
const program = new Command('custody:restore')
  .description("Put a backup in the place of one domain's stores, and check every share in it.")
  .addOption(
    new Option('--domain <name>', 'whose').choices(['service', 'user']).makeOptionMandatory(),
  )
  .requiredOption('--from <directory>', 'what custody:backup wrote')
  .option(
    '--home <directory>',
    'home of the service',
    process.env.COUNTERSIGN_HOME ?? '.countersign',
  )
  .action(async (options: { domain: 'service' | 'user'; from: string; home: string }) => {
    const home = resolve(options.home)
    const layout = options.domain === 'service' ? serviceLayout(home) : userSideLayout(home)
    const from = resolve(options.from)
    const suffix = `.before-restore-${Date.now()}`
    restore(join(from, 'shares'), layout.shares, suffix)
    restore(join(from, 'shares'), layout.sharesCopy, suffix)
    restore(join(from, 'ledger'), layout.ledger, suffix)
    restore(join(from, 'evidence'), layout.evidence, suffix)
    const wallets = await countFitting(options.domain, layout)
    process.stdout.write(`restored; ${wallets} shares fit their certificates\n`)
  })

function restore(from: string, to: string, suffix: string): void {
  if (!existsSync(from)) return
  if (existsSync(to)) renameSync(to, `${to}${suffix}`)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  copyFileSync(join(from, 'data.mdb'), join(to, 'data.mdb'))
}

async function countFitting(domain: 'service' | 'user', layout: DomainLayout): Promise<number> {
  const shares = openShareStore(
    domain,
    layout,
    await readWrappingKeys(layout.wrappingKey, openKeyStore(layout.keys, 'allowed')),
  )
  try {
    return checkShares(domain, shares)
  } finally {
    await shares.close()
  }
}

await program.parseAsync()
