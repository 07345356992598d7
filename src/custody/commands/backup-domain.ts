import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { open } from 'lmdb'
import { serviceLayout, userSideLayout } from '../domain-keys/layout.js'

/**
 * `npm run custody:backup`: copies one domain's custody stores while the domain runs. What it
 * copies is sealed; the wrapping key is not in it and must be kept elsewhere.
 */
const STORES = ['shares', 'ledger', 'evidence'] as const

const program = new Command('custody:backup')
  .description("Copy one domain's shares, ledger and evidence, consistent, while it runs.")
  .addOption(
    new Option('--domain <name>', 'whose').choices(['service', 'user']).makeOptionMandatory(),
  )
  .requiredOption('--to <directory>', 'a directory that does not exist yet')
  .option(
    '--home <directory>',
    'home of the service',
    process.env.COUNTERSIGN_HOME ?? '.countersign',
  )
  .action(async (options: { domain: 'service' | 'user'; to: string; home: string }) => {
    const home = resolve(options.home)
    const layout = options.domain === 'service' ? serviceLayout(home) : userSideLayout(home)
    const target = resolve(options.to)
    if (existsSync(target)) throw new Error(`${target} exists already`)
    // Evidence last: it then covers whatever the stores before it hold.
    for (const store of STORES) {
      if (!existsSync(layout[store])) continue
      const to = join(target, store)
      mkdirSync(to, { recursive: true, mode: 0o700 })
      const root = open({ path: layout[store], maxDbs: 16, readOnly: true })
      await root.backup(to, true)
      await root.close()
    }
    process.stdout.write(`backed up to ${target}\n`)
  })

await program.parseAsync()
