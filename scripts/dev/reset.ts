import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { domainHeldBy } from '../../src/custody/home-lock/domain-lock.js'
import { DOMAIN_NAMES } from '../../src/custody-tools/provisioning/provision-domain.js'
import { homeOwner } from './home/instance-lock.js'
import { devHome, isDevHome } from './home/layout.js'

/** Removes the state of a development home. */
const program = new Command('npm run dev -- reset')
  .description(
    'Remove all state of the development home: wallets, keys, chains, logs. Screening lists are kept.',
  )
  .option('--yes', 'do not ask')
  .action(run)

async function run(options: { readonly yes?: true }): Promise<void> {
  const home = devHome(process.env)
  if (!isDevHome(home)) throw new Error(`${home.root} is not a Countersign home; nothing removed`)
  const owner =
    homeOwner(home) ??
    DOMAIN_NAMES.map((domain) => domainHeldBy(home.root, domain)).find((held) => held !== null)
  if (owner !== undefined) throw new Error(`${home.root} is in use by ${owner}. Stop it first.`)
  if (!options.yes && process.stdin.isTTY && !(await confirmed(home.root))) {
    process.stdout.write('nothing removed\n')
    return
  }
  for (const name of readdirSync(home.root)) {
    // People wrote the lists; the marker identifies the directory.
    const stays = name === basename(home.lists) || name.startsWith('.')
    if (!stays) rmSync(join(home.root, name), { recursive: true, force: true })
  }
  process.stdout.write(`${home.root} is as before its first start\n`)
}

async function confirmed(root: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await prompt.question(`Remove all wallets, keys and chains in ${root}? [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    prompt.close()
  }
}

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`reset: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
