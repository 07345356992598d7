import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { devPackagesDirectory, devPackagesManifest, missingDevPackages } from './dev-packages.js'

/** The exit code for usage, because the person has to decide first. */
export const NOT_INSTALLED_EXIT = 2

const COMMAND = 'npx countersign start --install'

/**
 * Installs missing packages of the development chains when the command line asks for it or a person
 * confirms it.
 * @returns false when a person has to decide; they were told what and how
 * @throws Error when npm failed
 */
export async function ensureDevPackages(
  isAskedFor: boolean,
  say: (line: string) => void,
): Promise<boolean> {
  const missing = missingDevPackages()
  if (missing.length === 0) return true
  const directory = devPackagesDirectory()
  if (!isAskedFor) {
    process.stderr.write(explanation(missing, directory))
    if (!(await isConfirmed())) {
      process.stderr.write(`\n  ${COMMAND}\n\n`)
      return false
    }
  }
  say(`installing development chains into ${directory}`)
  await install(directory)
  const left = missingDevPackages()
  if (left.length === 0) return true
  throw new Error(
    `npm installed no ${left.join(', ')} for ${process.platform}/${process.arch} into ${directory}`,
  )
}

function explanation(missing: readonly string[], directory: string): string {
  return `
  A development instance runs six chains on this machine. They need packages that are not part of
  Countersign: anvil (a binary of some 30 MB), and Uniswap's contracts (GPL) to deploy there.

    missing     ${missing.join(', ')}
    goes to     ${directory}
    not needed  for a live service, the client or any other command

`
}

/** Without a terminal there is no person to ask. */
async function isConfirmed(): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return false
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^(y|yes|)$/i.test((await asking.question('  Install them now? [Y/n] ')).trim())
  } finally {
    asking.close()
  }
}

async function install(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const manifest = `${JSON.stringify(devPackagesManifest(), null, 2)}\n`
  writeFileSync(join(directory, 'package.json'), manifest)
  // Scripts are not needed: the binaries come as packages of their platform.
  const flags = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefer-offline']
  const child = spawn('npm', ['install', ...flags, '--loglevel=error', '--prefix', directory], {
    stdio: ['ignore', 2, 2],
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`npm install failed with exit code ${code}`)
}
