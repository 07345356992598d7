// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AgentRouter} from "../../../src/contracts/router/AgentRouter.sol";
import {CoSignature, Intent, UserSignature} from "../../../src/contracts/router/RouterIntent.sol";
import {Venue} from "../solidity/Venue.sol";
import {vm} from "./Vm.sol";
import {World} from "./World.sol";

contract AgentRouterFuzzTest is World {
    uint256 private constant USER = 0xA11CE;

    address private account;

    function setUp() public {
        _build();
        account = _createAccount(USER);
    }

    /// An intent moves exactly what it says: input, fee rounded down, output, and no more.
    function testFuzz_movesExactlyWhatWasSigned(
        uint256 amountIn,
        uint256 feeBps,
        uint256 given,
        uint256 nonce
    ) public {
        amountIn = _bound(amountIn, 1, FUNDS);
        feeBps = _bound(feeBps, 0, router.MAX_FEE_BPS());
        given = _bound(given, 1, type(uint128).max);
        bytes memory data = _trade(account, amountIn, feeBps, given);
        Intent memory intent = _intent(account, amountIn, uint16(feeBps), given, nonce, data);

        uint256 amountOut = _execute(intent, data);

        uint256 fee = (amountIn * feeBps) / 10_000;
        assert(amountOut == given);
        assert(tokenIn.balanceOf(account) == FUNDS - amountIn);
        assert(tokenIn.balanceOf(FEE_RECIPIENT) == fee);
        assert(tokenIn.balanceOf(address(venue)) == amountIn - fee);
        assert(tokenOut.balanceOf(account) == given);
        assert(tokenIn.balanceOf(address(router)) == 0);
        assert(tokenIn.allowance(address(router), address(venue)) == 0);
        assert(router.isNonceUsed(account, nonce));
    }

    /// Each nonce works once, and none disturbs another, not even in the same storage word.
    function testFuzz_usesEachNonceOnce(uint256 nonce, uint256 other) public {
        vm.assume(nonce != other);
        bytes memory data = _trade(account, 1_000, 30, 1);
        Intent memory intent = _intent(account, 1_000, 30, 1, nonce, data);
        _execute(intent, data);
        assert(!router.isNonceUsed(account, other));
        _expectRefused(intent, data, AgentRouter.NonceUsed.selector);
        intent.nonce = other;
        _execute(intent, data);
    }

    /// Whatever field changes after signing, both signatures are void.
    function testFuzz_refusesAnyChangedField(uint256 field, uint256 value) public {
        bytes memory data = _trade(account, 1_000, 30, 5);
        Intent memory intent = _intent(account, 1_000, 30, 5, 7, data);
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        bytes32 digest = router.digestOf(intent);

        // Each new value passes every other check, so that the signature alone refuses it.
        field = field % 9;
        if (field == 0) intent.account = _createAccount(_bound(value, 1, SECP256K1_N - 1));
        else if (field == 1) intent.tokenIn = address(uint160(value));
        else if (field == 2) intent.amountIn = _bound(value, 1, FUNDS);
        else if (field == 3) intent.feeBps = uint16(_bound(value, 0, router.MAX_FEE_BPS()));
        else if (field == 4) intent.tokenOut = address(uint160(value));
        else if (field == 5) intent.minOut = _bound(value, 1, type(uint256).max);
        else if (field == 6) intent.target = _allowAnotherVenue();
        else if (field == 7) intent.nonce = value;
        else intent.deadline = uint48(block.timestamp + _bound(value, 0, router.MAX_LIFETIME()));
        vm.assume(intent.tokenIn != intent.tokenOut && router.digestOf(intent) != digest);

        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidUserSignature.selector);
        router.execute(intent, data, user, co);
    }

    /// Calldata that does not hash to what was signed never reaches a venue.
    function testFuzz_refusesOtherCalldata(bytes calldata other) public {
        bytes memory data = _trade(account, 1_000, 30, 5);
        vm.assume(keccak256(other) != keccak256(data));
        Intent memory intent = _intent(account, 1_000, 30, 5, 7, data);
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.DataMismatch.selector);
        router.execute(intent, other, user, co);
    }

    /// Neither key stands in for the other, and strangers for neither.
    function testFuzz_needsBothKeys(uint256 strangerUser, uint256 strangerCoSigner) public {
        strangerUser = _bound(strangerUser, 1, SECP256K1_N - 1);
        strangerCoSigner = _bound(strangerCoSigner, 1, P256_N - 1);
        vm.assume(strangerUser != USER && strangerCoSigner != CO_SIGNER);
        bytes memory data = _trade(account, 1_000, 30, 5);
        Intent memory intent = _intent(account, 1_000, 30, 5, 7, data);
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        UserSignature memory wrongUser = _userSign(strangerUser, intent);
        CoSignature memory wrongCo = _coSign(strangerCoSigner, intent);

        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidUserSignature.selector);
        router.execute(intent, data, wrongUser, co);
        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidCoSignature.selector);
        router.execute(intent, data, user, wrongCo);
    }

    /// Bytes that nobody signed are no signature.
    function testFuzz_refusesRandomSignatures(
        bytes32 r,
        bytes32 vs,
        bytes32 coR,
        bytes32 coS
    ) public {
        bytes memory data = _trade(account, 1_000, 30, 5);
        Intent memory intent = _intent(account, 1_000, 30, 5, 7, data);
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidUserSignature.selector);
        router.execute(intent, data, UserSignature(r, vs), co);
        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidCoSignature.selector);
        router.execute(intent, data, user, CoSignature(co.x, co.y, coR, coS));
    }

    /// Signatures hold on one chain and up to the deadline, and not a second beyond.
    function testFuzz_bindsChainAndTime(uint64 otherChain, uint32 late) public {
        vm.assume(otherChain != block.chainid && otherChain != 0);
        bytes memory data = _trade(account, 1_000, 30, 5);
        Intent memory intent = _intent(account, 1_000, 30, 5, 7, data);
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        uint256 chain = block.chainid;
        vm.chainId(otherChain);
        vm.prank(RELAYER);
        vm.expectRevert(AgentRouter.InvalidUserSignature.selector);
        router.execute(intent, data, user, co);
        vm.chainId(chain);
        vm.warp(uint256(intent.deadline) + 1 + late);
        vm.prank(RELAYER);
        vm.expectPartialRevert(AgentRouter.IntentExpired.selector);
        router.execute(intent, data, user, co);
        vm.warp(intent.deadline);
        vm.prank(RELAYER);
        router.execute(intent, data, user, co);
    }

    /// No fee over the cap, whoever signed it.
    function testFuzz_capsTheFee(uint256 feeBps) public {
        feeBps = _bound(feeBps, router.MAX_FEE_BPS() + 1, type(uint16).max);
        bytes memory data = _trade(account, 1_000, 0, 5);
        Intent memory intent = _intent(account, 1_000, uint16(feeBps), 5, 7, data);
        _expectRefused(intent, data, AgentRouter.FeeTooHigh.selector);
    }

    /// The account ends with at least `minOut` more, or nothing happened.
    function testFuzz_givesTheMinimumOrNothing(uint256 given, uint256 minOut) public {
        given = _bound(given, 0, type(uint128).max);
        minOut = _bound(minOut, 1, type(uint128).max);
        bytes memory data = _trade(account, 1_000, 30, given);
        Intent memory intent = _intent(account, 1_000, 30, minOut, 7, data);
        if (given >= minOut) {
            assert(_execute(intent, data) == given);
        } else {
            _expectRefused(intent, data, AgentRouter.SlippageExceeded.selector);
            assert(tokenIn.balanceOf(account) == FUNDS);
            assert(!router.isNonceUsed(account, 7));
        }
    }

    function _allowAnotherVenue() private returns (address) {
        Venue another = new Venue();
        AgentRouter.AllowedCall[] memory calls = new AgentRouter.AllowedCall[](1);
        calls[0] = AgentRouter.AllowedCall(address(another), Venue.trade.selector);
        router.allowCalls(calls);
        return address(another);
    }

    function _execute(Intent memory intent, bytes memory data) private returns (uint256) {
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        vm.prank(RELAYER);
        return router.execute(intent, data, user, co);
    }

    function _expectRefused(Intent memory intent, bytes memory data, bytes4 reason) private {
        UserSignature memory user = _userSign(USER, intent);
        CoSignature memory co = _coSign(CO_SIGNER, intent);
        vm.prank(RELAYER);
        vm.expectPartialRevert(reason);
        router.execute(intent, data, user, co);
    }
}
