// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CoSignature, Intent, UserSignature} from "../../../src/contracts/router/RouterIntent.sol";
import {vm} from "./Vm.sol";
import {World} from "./World.sol";

/// @notice What the world may do to a Router, in any order: honest intents, and every attack by
/// somebody who lacks one thing. Keeps its own books of what should have moved.
contract RouterHandler is World {
    uint256 public constant ACCOUNTS = 4;
    uint256 private constant FIRST_KEY = 0xA6E47;
    /// @dev Few nonces, so that replays and cancellations meet, on both sides of a storage word.
    uint256 private constant FIRST_NONCE = 252;
    uint256 private constant NONCES = 8;

    address[ACCOUNTS] public accounts;
    /// @notice What honest, fully signed intents took from each account.
    mapping(address account => uint256 amount) public spent;
    mapping(address account => uint256 amount) public received;
    uint256 public feesTaken;
    uint256 public inputTotal;
    uint256 public executions;
    /// @notice Attacks that went through; must stay 0.
    uint256 public breaches;

    mapping(address account => mapping(uint256 nonce => bool used)) private _used;
    /// @dev Each that ever was one; the first is never ended, so that one always holds.
    uint256[] private _coSigners;
    /// @dev Seconds before which it holds; 0: never one.
    mapping(uint256 key => uint256 until) private _until;

    constructor() {
        _build();
        _coSigners.push(CO_SIGNER);
        _until[CO_SIGNER] = type(uint256).max;
        for (uint256 i = 0; i < ACCOUNTS; i++) accounts[i] = _createAccount(FIRST_KEY + i);
    }

    function spend(
        uint256 who,
        uint256 amountIn,
        uint256 feeBps,
        uint256 given,
        uint256 nonce,
        uint256 signer
    ) external {
        who = who % ACCOUNTS;
        amountIn = _bound(amountIn, 1, 1e24);
        feeBps = _bound(feeBps, 0, 100);
        given = _bound(given, 1, 1e24);
        nonce = FIRST_NONCE + (nonce % NONCES);
        address account = accounts[who];
        bytes memory data = _trade(account, amountIn, feeBps, given);
        Intent memory intent = _intent(account, amountIn, uint16(feeBps), given, nonce, data);
        uint256 coSigner = _coSigners[signer % _coSigners.length];
        bool expected = !_used[account][nonce] && block.timestamp < _until[coSigner];
        bool done = _try(RELAYER, intent, data, FIRST_KEY + who, coSigner);
        if (done != expected) breaches++;
        if (!done) return;
        _used[account][nonce] = true;
        spent[account] += amountIn;
        received[account] += given;
        feesTaken += (amountIn * feeBps) / 10_000;
        inputTotal += amountIn;
        executions++;
    }

    function attackWithoutUser(uint256 who, uint256 key, uint256 nonce) external {
        who = who % ACCOUNTS;
        key = _bound(key, 1, SECP256K1_N - 1);
        if (key == FIRST_KEY + who) return;
        _attack(RELAYER, who, nonce, key, CO_SIGNER);
    }

    function attackWithoutCoSigner(uint256 who, uint256 key, uint256 nonce) external {
        key = _bound(key, 1, P256_N - 1);
        if (_until[key] != 0) return;
        who = who % ACCOUNTS;
        _attack(RELAYER, who, nonce, FIRST_KEY + who, key);
    }

    function attackAsStranger(uint256 who, address caller, uint256 nonce) external {
        if (caller == RELAYER) return;
        who = who % ACCOUNTS;
        _attack(caller, who, nonce, FIRST_KEY + who, CO_SIGNER);
    }

    function attackWithEndedCoSigner(uint256 who, uint256 nonce, uint256 signer) external {
        uint256 coSigner = _coSigners[signer % _coSigners.length];
        if (block.timestamp < _until[coSigner]) return;
        who = who % ACCOUNTS;
        _attack(RELAYER, who, nonce, FIRST_KEY + who, coSigner);
    }

    /// @dev A co-signature beside the key of another co-signer, which holds as well.
    function attackUnderAnothersKey(uint256 who, uint256 nonce, uint256 signer) external {
        uint256 coSigner = _coSigners[signer % _coSigners.length];
        if (coSigner == CO_SIGNER) return;
        who = who % ACCOUNTS;
        nonce = FIRST_NONCE + (nonce % NONCES);
        bytes memory data = _trade(accounts[who], 1_000, 30, 1);
        Intent memory intent = _intent(accounts[who], 1_000, 30, 1, nonce, data);
        CoSignature memory co = _coSign(coSigner, intent);
        CoSignature memory other = _coSign(CO_SIGNER, intent);
        (co.x, co.y) = (other.x, other.y);
        if (_tryWith(RELAYER, intent, data, FIRST_KEY + who, co)) breaches++;
    }

    function cancel(uint256 who, uint256 nonce) external {
        address account = accounts[who % ACCOUNTS];
        nonce = FIRST_NONCE + (nonce % NONCES);
        vm.prank(nonce % 2 == 0 ? account : RELAYER);
        try router.cancel(account, nonce) {
            if (_used[account][nonce]) breaches++;
            _used[account][nonce] = true;
        } catch {
            if (!_used[account][nonce]) breaches++;
        }
    }

    function addCoSigner(uint256 key) external {
        key = _bound(key, 1, P256_N - 1);
        if (_until[key] != 0) return;
        _coSigners.push(key);
        _until[key] = type(uint256).max;
        _changeCoSigners(new uint256[](0), _one(key), 0);
    }

    /// @dev What was ended never holds again.
    function attackByAddingAnEnded(uint256 signer) external {
        uint256 key = _coSigners[signer % _coSigners.length];
        if (_until[key] == type(uint256).max) return;
        try this.add(key) {
            breaches++;
        } catch {}
    }

    /// @dev For `try` alone, as the owner that this is.
    function add(uint256 key) external {
        if (msg.sender != address(this)) return;
        _changeCoSigners(new uint256[](0), _one(key), 0);
    }

    /// @dev The first goes on: honest intents need one.
    function endCoSigner(uint256 signer, uint256 overlap) external {
        uint256 key = _coSigners[signer % _coSigners.length];
        if (key == CO_SIGNER) return;
        overlap = _bound(overlap, 0, router.MAX_OVERLAP());
        uint256 until = block.timestamp + overlap;
        if (until < _until[key]) _until[key] = until;
        _changeCoSigners(_one(key), new uint256[](0), overlap);
    }

    function attackWhilePaused(uint256 who, uint256 nonce) external {
        who = who % ACCOUNTS;
        router.pause();
        _attack(RELAYER, who, nonce, FIRST_KEY + who, CO_SIGNER);
        router.unpause();
    }

    function passTime(uint256 seconds_) external {
        vm.warp(block.timestamp + _bound(seconds_, 1, 2 hours));
    }

    function routerBalances() external view returns (uint256) {
        return
            tokenIn.balanceOf(address(router)) +
            tokenOut.balanceOf(address(router)) +
            address(router).balance;
    }

    function routerAllowance() external view returns (uint256) {
        return tokenIn.allowance(address(router), address(venue));
    }

    function accountBalances(uint256 who) external view returns (uint256 input, uint256 output) {
        return (tokenIn.balanceOf(accounts[who]), tokenOut.balanceOf(accounts[who]));
    }

    function feeBalance() external view returns (uint256) {
        return tokenIn.balanceOf(FEE_RECIPIENT);
    }

    function funds() external pure returns (uint256) {
        return FUNDS;
    }

    function _attack(
        address caller,
        uint256 who,
        uint256 nonce,
        uint256 userKey,
        uint256 coKey
    ) private {
        nonce = FIRST_NONCE + (nonce % NONCES);
        bytes memory data = _trade(accounts[who], 1_000, 30, 1);
        Intent memory intent = _intent(accounts[who], 1_000, 30, 1, nonce, data);
        if (_try(caller, intent, data, userKey, coKey)) breaches++;
    }

    function _try(
        address caller,
        Intent memory intent,
        bytes memory data,
        uint256 userKey,
        uint256 coKey
    ) private returns (bool) {
        return _tryWith(caller, intent, data, userKey, _coSign(coKey, intent));
    }

    function _tryWith(
        address caller,
        Intent memory intent,
        bytes memory data,
        uint256 userKey,
        CoSignature memory co
    ) private returns (bool) {
        UserSignature memory user = _userSign(userKey, intent);
        vm.prank(caller);
        try router.execute(intent, data, user, co) {
            return true;
        } catch {
            return false;
        }
    }
}
