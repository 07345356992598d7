// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AgentDelegate} from "../../../src/contracts/router/AgentDelegate.sol";
import {Intent, UserSignature} from "../../../src/contracts/router/RouterIntent.sol";
import {vm} from "./Vm.sol";
import {World} from "./World.sol";

contract AgentDelegateFuzzTest is World {
    uint256 private constant USER = 0xA11CE;

    address private account;

    function setUp() public {
        _build();
        account = _createAccount(USER);
        vm.deal(account, 1 ether);
    }

    /// Whoever calls the account with whatever, its funds stay.
    function testFuzz_noCallMovesFunds(address caller, bytes calldata data) public {
        vm.assume(caller != address(vm));
        vm.prank(caller);
        (bool ignored, ) = account.call(data);
        ignored;
        assert(tokenIn.balanceOf(account) == FUNDS);
        assert(account.balance == 1 ether);
    }

    /// A valid signature is of no use to anybody but the Router.
    function testFuzz_onlyTheRouterPulls(address caller, uint256 amount) public {
        vm.assume(caller != address(router));
        Intent memory intent = _intent(account, amount, 0, 1, 0, "");
        UserSignature memory user = _userSign(USER, intent);
        vm.prank(caller);
        vm.expectPartialRevert(AgentDelegate.OnlyRouter.selector);
        AgentDelegate(payable(account)).pull(intent, user);
    }

    /// A Router gone bad can take what was signed for it, and nothing else.
    function testFuzz_aFaultyRouterNeedsTheSignature(
        uint256 signedAmount,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) public {
        signedAmount = _bound(signedAmount, 0, FUNDS);
        vm.assume(amount != signedAmount);
        Intent memory intent = _intent(account, signedAmount, 0, 1, 0, "");
        UserSignature memory user = _userSign(USER, intent);
        intent.amountIn = amount;
        vm.prank(address(router));
        vm.expectRevert(AgentDelegate.InvalidUserSignature.selector);
        AgentDelegate(payable(account)).pull(intent, user);
        vm.prank(address(router));
        vm.expectRevert(AgentDelegate.InvalidUserSignature.selector);
        AgentDelegate(payable(account)).pull(intent, UserSignature(r, vs));
        intent.amountIn = signedAmount;
        vm.prank(address(router));
        AgentDelegate(payable(account)).pull(intent, user);
        assert(tokenIn.balanceOf(account) == FUNDS - signedAmount);
    }

    /// EIP-1271 says yes to the account's key alone.
    function testFuzz_vouchesForItsOwnKeyAlone(bytes32 hash, uint256 key) public view {
        key = _bound(key, 1, SECP256K1_N - 1);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, hash);
        bytes4 answer = AgentDelegate(payable(account)).isValidSignature(
            hash,
            abi.encodePacked(r, s, v)
        );
        assert((answer == bytes4(0x1626ba7e)) == (key == USER));
        (v, r, s) = vm.sign(USER, hash);
        answer = AgentDelegate(payable(account)).isValidSignature(hash, abi.encodePacked(r, s, v));
        assert(answer == bytes4(0x1626ba7e));
    }
}
