/**
 * The one script of the passkey pages: asks the browser for a credential and posts what it made.
 * Plain JavaScript for browsers, served as a file so that the content security policy needs no
 * exception. What is confirmed is written on the page by the server, from the bytes that are signed.
 */
export const PAGE_SCRIPT = `'use strict'
const main = document.querySelector('main')
const status = document.getElementById('status')
const rpId = main.dataset.rpId

function say(text, kind) {
  status.textContent = text
  status.className = { problem: 'error', done: 'done' }[kind] ?? ''
}

function toBytes(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

async function call(path, body) {
  const response = await fetch('/authorizers/api/' + path, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const json = await response.json()
  if (response.ok) return json
  if (response.status === 401) location.href = main.dataset.signIn
  throw new Error(json.error.message)
}

/** An assertion of one of the passkeys over a challenge. */
async function prove(challenge, authorizers) {
  const passkeys = authorizers.filter((authorizer) => authorizer.kind === 'passkey')
  if (passkeys.length === 0) {
    throw new Error('You have no passkey yet. A key of the command line confirms there.')
  }
  const { rawId, response } = await navigator.credentials.get({
    publicKey: {
      challenge: toBytes(challenge),
      rpId,
      userVerification: 'required',
      allowCredentials: passkeys.map((passkey) => ({
        type: 'public-key',
        id: toBytes(passkey.credential_id),
      })),
    },
  })
  const used = passkeys.find((passkey) => passkey.credential_id === toText(rawId))
  return {
    authorizer_id: used.authorizer_id,
    client_data_json: toText(response.clientDataJSON),
    authenticator_data: toText(response.authenticatorData),
    signature: toText(response.signature),
  }
}

async function approve(step) {
  if (step.status !== 'approval_required') return
  if (!step.authorizers.some((authorizer) => authorizer.kind === 'passkey')) {
    // Only a key of the command line can: it signs there, and the page shows it once reloaded.
    throw new Error('Confirm it within ten minutes by: countersign authorizer approve ' + step.ceremony_id)
  }
  say('Confirm it with a passkey you have already.')
  const proof = await prove(step.challenge, step.authorizers)
  await call('approve', { ceremony_id: step.ceremony_id, proof })
}

async function add(label) {
  const begun = await call('begin', { kind: 'passkey', label })
  const { response } = await navigator.credentials.create({
    publicKey: {
      challenge: toBytes(begun.challenge),
      rp: { id: rpId, name: 'Countersign' },
      user: { id: toBytes(begun.user.id), name: begun.user.name, displayName: begun.user.name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
      attestation: 'none',
      excludeCredentials: begun.exclude
        .filter((id) => id !== null)
        .map((id) => ({ type: 'public-key', id: toBytes(id) })),
    },
  })
  await approve(
    await call('finish', {
      ceremony_id: begun.ceremony_id,
      attestation_object: toText(response.attestationObject),
      client_data_json: toText(response.clientDataJSON),
    }),
  )
  location.reload()
}

async function confirmGrant() {
  const { grant, challenge } = main.dataset
  const { authorizers } = await call('list')
  await call('confirm', { grant, proof: await prove(challenge, authorizers) })
  document.getElementById('confirm').remove()
  timer?.closest('.left').remove()
  document.querySelector('[data-close]').textContent = 'Close this page'
  say('Confirmed. Go back to where you came from.', 'done')
}

async function approveCall() {
  const { approval, challenge } = main.dataset
  const { authorizers } = await call('list')
  await call('approve-call', { approval_id: approval, proof: await prove(challenge, authorizers) })
  location.reload()
}

async function declineCall() {
  const comment = document.getElementById('comment').value.trim()
  await call('decline-call', { approval_id: main.dataset.approval, comment })
  location.reload()
}

function onClick(element, action) {
  element?.addEventListener('click', async () => {
    element.disabled = true
    say('')
    try {
      await action()
    } catch (error) {
      say(error.message, 'problem')
    }
    element.disabled = false
  })
}

// A page that is left open says so when the time of its call is over.
const overInMs = Number(main.dataset.overInMs)
if (overInMs > 0) setTimeout(() => location.reload(), Math.min(overInMs + 200, 2 ** 31 - 1))

/** What is left of the time to decide; once it is over, there is nothing to press. */
const timer = document.querySelector('[data-left-ms]')
const overAtMs = Date.now() + Number(timer?.dataset.leftMs)
function countDown() {
  if (!timer.isConnected) return
  const seconds = Math.ceil((overAtMs - Date.now()) / 1000)
  if (seconds <= 0) {
    timer.textContent = 'none: ask for it again'
    timer.closest('.left').classList.add('over')
    for (const id of ['confirm', 'approve-call', 'decline']) document.getElementById(id)?.remove()
    return
  }
  timer.textContent = describeTimeLeft(seconds)
  setTimeout(countDown, 1000)
}
function describeTimeLeft(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  if (hours >= 48) return Math.floor(hours / 24) + ' days'
  if (hours > 0) return hours + ' h ' + minutes + ' min'
  return minutes + ':' + String(seconds % 60).padStart(2, '0')
}
if (timer !== null) countDown()

/** A page that a script or a link opened may close itself; of another, people close the tab. */
document.querySelector('[data-close]')?.addEventListener('click', () => {
  close()
  say('You can close this tab.')
})

onClick(document.getElementById('add'), () => add(document.getElementById('label').value.trim()))
onClick(document.getElementById('confirm'), confirmGrant)
onClick(document.getElementById('approve-call'), approveCall)
onClick(document.getElementById('decline-call'), declineCall)
for (const button of document.querySelectorAll('button[data-remove]')) {
  onClick(button, async () => {
    await approve(await call('remove', { authorizer_id: button.dataset.remove }))
    location.reload()
  })
}
`
