%% What BeamAsm compiles is all that is loaded; this runs some of it.
-module(hot).
-export([main/0]).

sum(0, S) -> S;
sum(N, S) -> sum(N - 1, (S + N * 7) rem 1000003).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

words(N) ->
    maps:size(lists:foldl(fun(I, M) -> M#{I rem 97 => I} end, #{}, lists:seq(1, N))).

main() ->
    io:format("~p~n", [sum(100000, 0) + fib(20) + words(3000)]),
    halt(0, [{flush, true}]).
