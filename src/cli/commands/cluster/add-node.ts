import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'
import { type DomainOptions, journaledDomainOption } from './domain-option.js'

const HELP = `
The service may run; run this command as its user. The copy contains what opens the shares, the sealed
shares, ledger, evidence and lists, registry.json, chains.json and screening.json. It does not contain the
store, which the new node fills from the journal; the co-signer key, because each machine has its own; other
domains' files; files of one run; or files that the environment names.
The copy of a frozen home (custody freeze) is frozen: lift the freeze in each home.
With --new-cell the copy is the first home of another cell: it also has no shares, ledger or evidence, because
its users are others. Its journal file lists the same cells, and names the new one as its own.
With --domain user the copy is the home of a standby of the identity provider: all of the identity provider's
files and none of the service's.`

/** The remaining steps for a standby of the identity provider. */
const NEXT_OF_USER = `The copy contains keys, shares, accounts and sessions: transfer it encrypted, and delete it here and on the
medium once it is installed. A token or KMS that identity-provider/vault/keys/store.json names must be
reachable from the new machine. Then, on that machine, as root:
  1. Copy its contents into /var/lib/countersign:
       chown -R countersign-identity:countersign-identity /var/lib/countersign/identity-provider
       chown root:root /var/lib/countersign/registry.json, mode 0644
       systemd-tmpfiles --create
  2. Use this identity provider's environment, with IDENTITY_JOURNAL_FILE and IDENTITY_JOURNAL_ROLE=standby. Set
     that role here too, so that a restarted node waits for the other one. IDENTITY_LINK_FILE needs its own
     address and certificate; IDENTITY_PUBLIC_ISSUER stays the same.
  3. Add "others": ["that machine:port"] to the link file of each wallet service; restart them.
  4. Put a proxy in front of the login that sends browsers to whichever node answers.
Start it within a week: the journal keeps its entries that long.
`

/** The remaining steps for a node of the service. */
const NEXT = `With keys in files, the copy contains what opens the shares: transfer it encrypted, and delete it here
and on the medium once it is installed. A token or KMS that service/custody/keys/store.json names must be
reachable from the new machine. Then, on that machine, as root, with countersign and its units installed:
  1. Copy its contents, not the directory itself, into /var/lib/countersign, whose owner and mode stay.
       chown -R countersign-service:countersign-service /var/lib/countersign/service
         and /var/lib/countersign/lists, if it exists
       chown root:root /var/lib/countersign/registry.json and chains.json, mode 0644
       systemd-tmpfiles --create, which sets the directories' owners and modes and creates missing ones
     If one user runs all domains, the copy is the complete home.
  2. Use this node's journal file and service environment, with COUNTERSIGN_JOURNAL_FILE and
     COUNTERSIGN_JOURNAL_ROLE=standby. Set that role here too, so that a restarted node waits for the other one.
  3. Use the same identity provider, over COUNTERSIGN_IDENTITY_LINK_FILE, or its socket in run/ on its machine.
  4. Make its own co-signer key and quorum signer, each as its user, with root.pub.pem from service/custody/keys:
       countersign custody provision --domain service --root-public root.pub.pem --enrolment s2.json
       countersign custody provision --domain quorum --root-public root.pub.pem --enrolment q2.json
     On the root's machine, with the present registry:
       countersign custody sign-registry --root root.pem --registry registry.json --enrolments s2.json q2.json --out next.json
     On every machine, as root:
       countersign custody install-registry next.json
     If there are Routers, with their owner's key, before this node may take over:
       countersign contracts configure
  5. Start the service. /readyz reports how far it is behind, and answers 200 when callers may be sent to it.
`

/** The additional steps for the first node of a cell. */
const NEXT_OF_CELL = `${NEXT}
For the first node of a cell, replace step 2: use this journal file with "cell" set to the new cell's number, and
COUNTERSIGN_JOURNAL_ROLE=owner at its first start, before the cell has other nodes. Make those from its home,
without --new-cell. It has its own gas wallets: run countersign gas-wallets and countersign contracts configure
in its home as well.
`

type AddNodeOptions = GlobalOptions & DomainOptions & { to: string; newCell?: true }

export function registerAddNode(cluster: Command, io: Io): void {
  cluster
    .command('add-node')
    .description('make the home of a further node from this one, to copy to its machine')
    .addOption(journaledDomainOption())
    .requiredOption('--to <directory>', 'a directory that does not exist yet, or is empty')
    .option('--new-cell', 'for other users: the copy has no data of the present ones')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<AddNodeOptions>()
      const isOfNewCell = options.newCell === true
      if (isOfNewCell && options.domain === 'user') {
        throw new UsageError('one identity provider serves all cells')
      }
      const { makeNodeHome } = await import('../../operator/make-node-home.js')
      const to = resolve(options.to)
      const made = await makeNodeHome(homeOf(io, options), options.domain, to, isOfNewCell)
      printRecord(io, options, { home: to, ...made })
      io.err(options.domain === 'user' ? NEXT_OF_USER : isOfNewCell ? NEXT_OF_CELL : NEXT)
    })
}
